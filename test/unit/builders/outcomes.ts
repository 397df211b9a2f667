import './environment.ts';
import type { AttemptOutcome, ProviderAttempt } from '../../../core/provider-calls/provider-attempts.ts';
import { anAttempt } from './entities.ts';

export const CONTENT = { code: 'content_policy', message: 'refused' } as const;
export const ERROR = { code: 'provider_error', message: 'broke' } as const;
export const TIMEOUT = { code: 'provider_timeout', message: 'late' } as const;

export const accepted: AttemptOutcome = { kind: 'accepted', taskId: 'task' };
export const failed = (failure: typeof CONTENT | typeof ERROR | typeof TIMEOUT): AttemptOutcome => ({
  kind: 'failed',
  failure,
});
export const lost: AttemptOutcome = { kind: 'lost', failure: ERROR };
export const done = (...outputs: (string | typeof CONTENT | typeof ERROR)[]): AttemptOutcome => ({
  kind: 'done',
  outputs: outputs.map((output) => (typeof output === 'string' ? { url: output } : { failure: output })),
});
export const busy = (retryAfterSeconds?: number): AttemptOutcome => ({
  kind: 'busy',
  reason: 'full',
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

/** One attempt for each outcome, as the calls of a plan. */
export const attempts = (...outcomes: AttemptOutcome[]): ProviderAttempt[] =>
  outcomes.map((outcome, call) => anAttempt({ call, outcome }));
