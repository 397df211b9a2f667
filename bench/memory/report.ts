import { markdownTable } from '../publish.ts';

/** The measurements of one process. Memory is resident set size. */
export interface WayFigures {
  storedBytes: number;
  /** Before the large file, with all code loaded. */
  baselineBytes: number;
  /** Maximum during the whole run. */
  peakBytes: number;
  milliseconds: number;
}

/** One way to store a video, and its runs. */
export interface Way {
  way: string;
  runs: WayFigures[];
}

/** Maximum memory that streaming a video of 200 MB may add to a process. */
const LIMIT_MEGABYTES = 160;

const MEGABYTE = 1_000_000;
const megabytes = (bytes: number): number => Math.round(bytes / MEGABYTE);

/** Memory added by storing, in bytes, in the worst run. */
export const addedBytes = ({ runs }: Way): number =>
  Math.max(...runs.map(({ baselineBytes, peakBytes }) => peakBytes - baselineBytes));

/** Whether every run of a way is within the limit. */
export const isWithinLimit = (way: Way): boolean => addedBytes(way) <= LIMIT_MEGABYTES * MEGABYTE;

/** The table of `docs/benchmarks.md`. The service's own way comes first. */
export const reportOf = (ways: readonly Way[]): string => {
  const [streamed] = ways;
  const verdict = streamed && isWithinLimit(streamed) ? 'It does.' : '**It does not.**';
  return `Storing ${megabytes(streamed?.runs[0]?.storedBytes ?? 0)} MB should add at most ${LIMIT_MEGABYTES} MB when streamed. ${verdict}

${markdownTable(['way', 'run', 'baseline MB', 'peak MB', 'added MB', 'seconds'], ways.flatMap(rowsOf), ['way'])}`;
};

const rowsOf = ({ way, runs }: Way): (string | number)[][] =>
  runs.map(({ baselineBytes, peakBytes, milliseconds }, index) => [
    way,
    index + 1,
    ...[baselineBytes, peakBytes, peakBytes - baselineBytes].map(megabytes),
    (milliseconds / 1000).toFixed(1),
  ]);
