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
const [WARM_RUNS, RUNS, BATCHES] = isQuick ? [500, 1_000, 3] : [5_000, 2_000, 9];

/** The time of a handler's run, from its event to its answer, with stand-ins for AWS that answer at once. */
export const measureHandlers = async (): Promise<Part> => {
  // In a process of its own: other parts of the benchmark replace this process's clock and clients by stand-ins.
  const child = fileURLToPath(new URL('child.ts', import.meta.url));
  const numbers = [PAGE_SIZE, WARM_RUNS, RUNS, BATCHES].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, [child, ...numbers]);
  const times = JSON.parse(stdout) as Times;
  const meanRead = (times.readUnfinished * (READS - 1) + times.read) / READS;
  /** A handler's time beside that of a signature on the same machine, whose speed it leaves out. */
  const inSignatures = (name: string, microseconds: number, budget: number) =>
    resultOf(`handler: ${name}`, microseconds / times.signature, 'signatures', { budget });
  return {
    title: 'Time of a handler',
    note: `Processor time of a warm handler, without the SDK and logs. Of the ${READS} reads of a request, ${READS - 1} find it unfinished and sign no URL. Budgets are in times of a signature on the same machine.`,
    results: [
      inSignatures('create an image', times.create, 8),
      inSignatures(`read an image, mean of its ${READS} reads`, meanRead, 3),
      inSignatures(`list of ${PAGE_SIZE}, a URL`, times.list / PAGE_SIZE, 2.5),
      resultOf('handler: create an image', times.create, 'µs'),
      resultOf('handler: read an unfinished image', times.readUnfinished, 'µs'),
      resultOf('handler: read an image', times.read, 'µs'),
      resultOf('signature of a URL', times.signature, 'µs'),
    ],
  };
};
