/**
 * Measures whether dead receivers delay the webhooks of others: `npm run bench:webhooks`. With `-- --quick` it sends fewer
 * webhooks and writes nothing.
 */
import { isQuick, logProgress, publish } from '../publish.ts';
import { measureDeliveries, WATCHED } from './deliveries.ts';
import { type DeliveryRow, reportOf, rowOf } from './report.ts';
import { startWebhookService } from './service.ts';

const COUNT = isQuick ? 20 : WATCHED;
const WARM_UP_COUNT = isQuick ? 5 : 50;

const service = await startWebhookService();
try {
  // Opens connections and compiles code, which would delay the first webhooks.
  await measureDeliveries(service, 'healthy', WARM_UP_COUNT);
  const rows: DeliveryRow[] = [];
  // Dead receivers come last: their later attempts would disturb the next run.
  for (const otherHalf of ['none', 'healthy', 'dead'] as const) {
    const row = rowOf(await measureDeliveries(service, otherHalf, COUNT));
    logProgress(`${otherHalf}: p50 ${row.p50} ms, p99 ${row.p99} ms, ${row.arrived} arrived`);
    rows.push(row);
  }
  await publish('webhooks', rows, reportOf(rows));
} finally {
  await service.close();
}
