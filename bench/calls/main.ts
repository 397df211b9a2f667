/**
 * Counts the table calls and capacity units of every endpoint: `npm run bench:calls`. With `-- --quick` lists are short
 * and nothing is written.
 */
import { isQuick, logProgress, publish } from '../publish.ts';
import { measureLists } from './lists.ts';
import { reportOf } from './report.ts';
import { startMeasuredService } from './service.ts';
import { measureSingleRequests } from './single-requests.ts';

/** Records in the measured lists: 50 pages. */
const COUNT = isQuick ? 100 : 1_000;

const service = await startMeasuredService();
try {
  logProgress('the service has started');
  const now = new Date();
  const lists = await measureLists(service, COUNT, now);
  logProgress('measured the lists');
  const sections = [...lists, ...(await measureSingleRequests(service, now))];
  logProgress('measured the other requests');

  const figures = Object.fromEntries(sections.map(({ title, rows }) => [title, rows]));
  if (!isQuick) await publish('calls', figures, reportOf(sections));
} finally {
  await service.close();
}
