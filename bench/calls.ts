import { mkdir, writeFile } from 'node:fs/promises';
import { measureLists } from './lists.ts';
import { missedTarget, reportOf } from './report.ts';
import { startMeasuredService } from './service.ts';
import { measureSingleRequests } from './single-requests.ts';

const root = new URL('../', import.meta.url);

/** Counts what every endpoint asks of the table, and writes `bench/calls.json` and `docs/bench-calls.md`. */
const main = async (): Promise<void> => {
  const startedAt = performance.now();
  const say = (what: string) =>
    console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${what}`);

  const service = await startMeasuredService();
  try {
    say('the service is up');
    const now = new Date();
    const lists = await measureLists(service, now);
    say('the lists are measured');
    const sections = [...lists, ...(await measureSingleRequests(service, now))];
    say('all is measured');

    const figures = Object.fromEntries(sections.map(({ title, rows }) => [title, rows]));
    await mkdir(new URL('bench/', root), { recursive: true });
    await writeFile(new URL('bench/calls.json', root), `${JSON.stringify(figures, null, 2)}\n`);
    await writeFile(new URL('docs/bench-calls.md', root), reportOf(sections));
    for (const { request, page, timesFirstPage, sequentialCalls } of missedTarget(sections)) {
      say(`${request}, page ${page}: ${timesFirstPage} times page 1, ${sequentialCalls} calls in sequence`);
    }
  } finally {
    await service.close();
  }
};

await main();
