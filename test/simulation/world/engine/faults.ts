import type { Random } from './random.ts';

/** The faults of a single call that a function makes. */
export const CALL_FAULTS = [
  /** Refused once, untouched: a throttle, a 5xx or a connection that was never made. The SDK tries again. */
  'refused',
  /** The same, however often the SDK tries. */
  'refused-always',
  /** Done, and the answer is lost. The SDK tries again. */
  'answer-lost',
  /** Done, and every answer is lost. */
  'answer-lost-always',
  /** A write refused because another one on the same item is under way. */
  'conflict',
  /** A transaction cancelled because the table is too busy for one of its items. */
  'throttled-inside',
  /**
   * A transaction that takes longer than the client waits: the next try is refused because the first is still in
   * progress.
   */
  'under-way',
  /** Done for some of its items only. */
  'partly',
  /** Neither done nor answered: as long as the client waits, if it does not wait for ever. */
  'stalled',
  /** Refused for good: not allowed. Nobody tries again. */
  'denied',
  /** On its way for long. */
  'slow',
  /** The process dies before the call leaves it. */
  'crash-before',
  /** The process dies once the call is done. */
  'crash-after',
] as const;

/** What can go wrong with one invocation of a workflow's or an event's function. */
export const INVOCATION_FAULTS = [
  /** Lambda does not take it. */
  'not-started',
  /** It runs twice at once. */
  'twice',
  /** It runs again seconds, minutes or hours later. */
  'again-later',
  /** It runs, and its caller is told that the connection broke. */
  'unheard',
] as const;

/** What can go wrong with the news of an execution's end. */
export const NEWS_FAULTS = ['news-lost', 'news-twice'] as const;

export const FAULTS = [...CALL_FAULTS, ...INVOCATION_FAULTS, ...NEWS_FAULTS] as const;
export type CallFault = (typeof CALL_FAULTS)[number];
export type Fault = (typeof FAULTS)[number];

/** A fault, and the number of chances that pass before the fault comes to the first fitting chance. */
export interface PlannedFault {
  gap: number;
  fault: Fault;
}

/** The faults of one run, each met once, in order; added faults come before the remaining ones. */
export class FaultPlan {
  /** Switched off while a world is set up and while it comes to rest. */
  enabled = false;
  /** How many faults were met. */
  met = 0;
  /** Told of each fault that is met. */
  onMet: ((fault: Fault) => void) | undefined;
  readonly random: Random;
  private readonly planned: PlannedFault[];
  private next = 0;
  private passed = 0;

  constructor(planned: readonly PlannedFault[], random: Random) {
    this.planned = [...planned];
    this.random = random;
  }

  /** Adds a fault, counted from now on. */
  add(fault: PlannedFault): void {
    this.planned.splice(this.next, 0, fault);
    this.passed = 0;
  }

  /** The fault that this chance meets: a fitting fault whose turn has come. */
  meet<F extends Fault>(fitting: readonly F[]): F | undefined {
    const planned = this.enabled ? this.planned[this.next] : undefined;
    if (!planned) return undefined;
    const fits = (fitting as readonly Fault[]).includes(planned.fault);
    if (this.passed < planned.gap || !fits) {
      this.passed++;
      return undefined;
    }
    this.next++;
    this.passed = 0;
    this.met++;
    this.onMet?.(planned.fault);
    return planned.fault as F;
  }
}
