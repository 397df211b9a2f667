import { markdownTable } from '../publish.ts';

/** What came of many requests against a route with few permits. */
export interface CapacityFigures {
  requests: number;
  maxRunning: number;
  served: number;
  /** Requests that waited in the queue. */
  waited: number;
  /** By how many places a request was called away from its age in its account. */
  mostOutOfOrder: number;
  /** The most finishings that a single request of another account waited for, from when it began to wait. */
  mostFinishingsOfSingle: number;
  /** Rules of the simulation that were broken. */
  violations: readonly string[];
  /** Transitions that a wait in the queue adds. */
  transitionsWaiting: number;
  /** Writes of the gate and what waits at it, and their units, a request. */
  writes: number;
  writeUnits: number;
  /** From a permit's return to the next call at the provider, in virtual milliseconds. */
  gapMs: { p50: number; p99: number; max: number };
}

/** A single request waits for one finishing, and one for the other account that may have waited longer. */
const MAX_FINISHINGS = 2;
/** Two requests that are let in at about the same time may arrive either way. */
const MAX_OUT_OF_ORDER = 5;

/** The requirements that were missed, one line each. */
export const missesOf = (figures: CapacityFigures): string[] => [
  ...(figures.served === figures.requests ? [] : [`${figures.served} of ${figures.requests} were served`]),
  ...(figures.mostFinishingsOfSingle <= MAX_FINISHINGS
    ? []
    : [`a single request waited for ${figures.mostFinishingsOfSingle} finishings`]),
  ...(figures.mostOutOfOrder <= MAX_OUT_OF_ORDER ? [] : [`${figures.mostOutOfOrder} places out of order`]),
  ...figures.violations,
];

/** The table of `docs/benchmarks.md`. */
export const reportOf = (figures: CapacityFigures): string => {
  const { gapMs } = figures;
  const rows: [string, string | number][] = [
    ['requests, of three accounts', figures.requests],
    ['called, each once', figures.served],
    ['of which waited in the queue', figures.waited],
    ['most places that a request was called away from its age in its account', figures.mostOutOfOrder],
    ['most finishings that a single request of another account waited for', figures.mostFinishingsOfSingle],
    ['state transitions that the wait adds', figures.transitionsWaiting],
    ['writes of the gate and what waits at it, a request, refused ones too', figures.writes],
    ['their write units', figures.writeUnits],
    ['from a permit freed to the next call at the provider, p50 ms', gapMs.p50],
    ['p99 ms', gapMs.p99],
    ['longest, ms', gapMs.max],
  ];
  return markdownTable(['', 'figure'], rows, ['']);
};
