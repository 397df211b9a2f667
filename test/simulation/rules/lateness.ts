import type { Fault } from '../world/engine/faults.ts';
import { isProvider, type OutageMode, type Service } from '../world/engine/outages.ts';

/** What a disturbance outside the plan of faults is called. */
export type Disturbance =
  | 'crash'
  | 'abort'
  | 'reconciler'
  | 'deployment'
  | 'clock'
  | 'unread state'
  | 'leaked secret';
/** Disturbances that only delay what waits for providers. */
const AT_PROVIDERS: readonly string[] = ['unread state', 'leaked secret'] satisfies Disturbance[];
/** Faults of providers or of Lambda, which only delay what waits for a provider or for a function to start. */
export type Elsewhere = 'providers' | 'throttled functions';

/** How long the loop may take to find out by itself: two runs, a minute apart. */
const FOUND_MS = 120_000;
/** How long the loop may take to find an execution whose end was not reported: five minutes and a run. */
const UNREPORTED_MS = 360_000;
/** How long a step that is repeated may take longer: the pauses of a client or a state machine. */
const REPEATED_MS = 40_000;

/**
 * The table of lateness: by how much one disturbance may delay a request, in milliseconds. Any number of disturbances excuses the sum, and no more.
 * An outage, and a function that Lambda does not start, excuse their length and `AFTER_OUTAGE_MS`.
 */
export const EXCUSED_MS: Readonly<Record<Fault | Disturbance, number>> = {
  // A client tries again within the same run.
  refused: REPEATED_MS,
  'answer-lost': REPEATED_MS,
  conflict: REPEATED_MS,
  'throttled-inside': REPEATED_MS,
  'under-way': REPEATED_MS,
  partly: REPEATED_MS,
  slow: REPEATED_MS,
  // A run of a function fails, hangs or dies: its state machine repeats the step, or the loop's next run finds the work.
  'refused-always': FOUND_MS,
  'answer-lost-always': FOUND_MS,
  stalled: FOUND_MS,
  'crash-before': FOUND_MS,
  'crash-after': FOUND_MS,
  'not-started': FOUND_MS,
  twice: REPEATED_MS,
  'again-later': REPEATED_MS,
  unheard: FOUND_MS,
  'news-twice': 0,
  crash: FOUND_MS,
  reconciler: 2 * FOUND_MS,
  deployment: FOUND_MS,
  // An execution ends for good, and nobody may be told.
  denied: UNREPORTED_MS,
  'news-lost': UNREPORTED_MS,
  abort: UNREPORTED_MS,
  // A machine's clock is ahead or behind by as much.
  clock: 300_000,
  // A provider's answer cannot be read, or contradicts an earlier answer: the loop queries the task again.
  'unread state': UNREPORTED_MS,
  // Functions have the worthless text for five minutes: callbacks and queries are refused until then, and tasks are queried again.
  'leaked secret': UNREPORTED_MS,
};

/** How long after an outage, or after a function is started again, the effects may last: pauses between the tries of a state machine, and a run of the loop. */
const AFTER_OUTAGE_MS = 180_000;
/** How long before an instant a disturbance may have happened that still delays what is due then. */
const LASTING_MS = UNREPORTED_MS + FOUND_MS;

/** An outage as it was: in epoch milliseconds. */
export interface PastOutage {
  service: Service;
  mode: OutageMode;
  from: number;
  to: number;
}

/** The disturbances of a run, with their instants. */
export class Lateness {
  private readonly suffered: { name: Fault | Disturbance; at: number }[] = [];
  private readonly throttles: { from: number; to: number }[] = [];
  private readonly outages: () => readonly PastOutage[];

  constructor(outages: () => readonly PastOutage[]) {
    this.outages = outages;
  }

  /** Records a disturbance. */
  add(name: Fault | Disturbance, at: number): void {
    this.suffered.push({ name, at });
  }

  /** Records that Lambda takes no run of a function. */
  throttle(from: number, to: number): void {
    this.throttles.push({ from, to });
  }

  /**
   * How late an event may be at `to` that was due at `from`, in milliseconds. Faults of providers, and functions that Lambda
   * does not start, excuse only an event whose `waitsFor` names them.
   */
  excusedMs(from: number, to: number, ...waitsFor: readonly Elsewhere[]): number {
    const faults = this.suffered
      .filter(({ name }) => !AT_PROVIDERS.includes(name) || waitsFor.includes('providers'))
      .filter(({ at }) => at >= from - LASTING_MS && at <= to)
      .reduce((sum, { name }) => sum + EXCUSED_MS[name], 0);
    const outages = this.outages()
      .filter(({ service }) => !isProvider(service) || waitsFor.includes('providers'))
      .filter((outage) => outage.to + AFTER_OUTAGE_MS >= from && outage.from <= to)
      .reduce((sum, outage) => sum + Math.min(outage.to, to) - outage.from + AFTER_OUTAGE_MS, 0);
    const throttles = this.throttles
      .filter((throttle) => waitsFor.includes('throttled functions') && from <= to && throttle.to >= from)
      .filter((throttle) => throttle.from <= to)
      .reduce(
        (sum, throttle) => sum + Math.min(throttle.to, to) - Math.max(throttle.from, from) + AFTER_OUTAGE_MS,
        0,
      );
    return faults + outages + throttles;
  }
}
