import type { Taken } from '../../core/provider-calls/providers.ts';
import type { ErrorClass } from '../failures.ts';

export interface SubmitOutcome {
  /** HTTP statuses, as a pattern. */
  status: RegExp;
  /** Whether fal took the call: only one that was surely not taken may be made again, as fal has no idempotency key. */
  taken: Taken;
  /** The class of an error whose code decides nothing. */
  errorClass: ErrorClass;
}

/**
 * Whether fal took a submit, by the HTTP status of its answer; the first row that fits. No connection: *no*. No answer, or one
 * that breaks off: *unknown*. A 2xx with a request id is *yes*, without one it cannot be read and is *unknown*.
 */
export const SUBMIT_OUTCOMES: readonly SubmitOutcome[] = [
  { status: /^[23]/, taken: 'yes', errorClass: 'error' },
  // A bad key, a locked account or an empty balance, an unknown endpoint: nothing is queued.
  { status: /^(401|403|404)$/, taken: 'no', errorClass: 'access' },
  { status: /^429$/, taken: 'no', errorClass: 'busy' },
  // The connection ended on the way: the request may be in the queue.
  { status: /^(408|409|499)$/, taken: 'unknown', errorClass: 'error' },
  { status: /^4/, taken: 'no', errorClass: 'error' },
  { status: /^504$/, taken: 'unknown', errorClass: 'timeout' },
  { status: /^5/, taken: 'unknown', errorClass: 'error' },
];

const UNHEARD_OF: SubmitOutcome = { status: /^/, taken: 'unknown', errorClass: 'error' };

export const submitOutcomeOf = (status: number): SubmitOutcome =>
  SUBMIT_OUTCOMES.find((row) => row.status.test(String(status))) ?? UNHEARD_OF;

const TIMEOUT = /^(request_timeout|startup_timeout|generation_timeout)$/;
/** Errors of fal or of a model's maker; any other of a result is about the input. */
const THEIRS = /^(internal_|downstream_|runner_|client_|HTTP 5)/;

/** The class of an error of fal, by its code (`type` of a model's error, `error_type` of the platform's), else by its HTTP status. */
export const classifyFalError = (status: number | undefined, code: string): ErrorClass => {
  if (code === 'content_policy_violation') return 'content';
  if (TIMEOUT.test(code)) return 'timeout';
  if (status !== undefined) return submitOutcomeOf(status).errorClass;
  return THEIRS.test(code) ? 'error' : 'input';
};
