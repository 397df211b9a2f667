import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isQuick } from '../publish.ts';
import { type Part, resultOf } from '../results.ts';
import type { Times } from './child.ts';

/** URLs of a page: each request has one file. */
const PAGE_SIZE = 20;
/** Reads of a request, one each 5 s for a minute: the last finds it succeeded. */
const READS = 12;
/** Until the code is compiled, and then as often in each of several batches. */
const [WARM_RUNS, RUNS, BATCHES] = isQuick ? [50, 20, 3] : [5_000, 2_000, 9];

/** The time of a handler's run, from its event to its answer, with stand-ins for AWS that answer at once. */
export const measureHandlers = async (): Promise<Part> => {
  // In a process of its own: the other parts have put stand-ins before its clock and its clients.
  const child = fileURLToPath(new URL('child.ts', import.meta.url));
  const numbers = [PAGE_SIZE, WARM_RUNS, RUNS, BATCHES].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, [child, ...numbers]);
  const times = JSON.parse(stdout) as Times;
  const meanRead = (times.readUnfinished * (READS - 1) + times.readNew) / READS;
  return {
    title: 'Time of a handler',
    note: `Processor time of a run of the handler with its middleware, from the event to the answer, in one warm process: the median of ${BATCHES} batches of ${RUNS.toLocaleString('en')} runs, one after another. The clients of AWS are
stand-ins that answer at once, so the SDK's own work is not in it; nothing is logged. A process signs a file's URL once (ECDSA P-256) and gives it out again. So of the reads of a request, ${READS} with ${READS - 1} before it
has ended, one signs; and a list signs what was not listed before. A signature alone is a figure of the processor: where each URL is new, no list takes less a URL.`,
    results: [
      resultOf('handler: create an image', times.create, 'µs', { budget: 150 }),
      resultOf(`handler: read an image, mean of its ${READS} reads`, meanRead, 'µs', { budget: 60 }),
      resultOf('handler: read an unfinished image', times.readUnfinished, 'µs'),
      resultOf('handler: read an image, URL new', times.readNew, 'µs'),
      resultOf('handler: read an image again', times.read, 'µs'),
      resultOf(`handler: list of ${PAGE_SIZE} again, a URL`, times.list / PAGE_SIZE, 'µs', { budget: 30 }),
      resultOf(`handler: list of ${PAGE_SIZE}, all URLs new, a URL`, times.listNew / PAGE_SIZE, 'µs'),
      resultOf('signature of a URL', times.signature, 'µs'),
    ],
  };
};
