import { mkdir, writeFile } from 'node:fs/promises';
import { measureDeliveries } from './webhook-deliveries.ts';
import { type DeliveryRow, reportOf, rowOf } from './webhook-report.ts';
import { startWebhookService } from './webhook-service.ts';

const root = new URL('../', import.meta.url);

/** Measures whether a dead receiver delays another's webhooks, and writes `bench/webhooks.json` and `docs/bench-webhooks.md`. */
const main = async (): Promise<void> => {
  const service = await startWebhookService();
  try {
    // What is made once, such as connections and compiled code, is made before.
    await measureDeliveries(service, 'well', 50);
    const rows: DeliveryRow[] = [];
    // The dead come last: their later tries would meet the run after them.
    for (const otherHalf of ['nobody', 'well', 'dead'] as const) {
      const row = rowOf(await measureDeliveries(service, otherHalf));
      console.log(`${otherHalf}: p50 ${row.p50} ms, p99 ${row.p99} ms, ${row.arrived} arrived`);
      rows.push(row);
    }
    await mkdir(new URL('bench/', root), { recursive: true });
    await writeFile(new URL('bench/webhooks.json', root), `${JSON.stringify(rows, null, 2)}\n`);
    await writeFile(new URL('docs/bench-webhooks.md', root), reportOf(rows));
  } finally {
    await service.close();
  }
};

await main();
