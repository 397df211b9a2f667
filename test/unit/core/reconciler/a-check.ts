import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { VIDEO_ID } from '../../builders/entities.ts';
import { leadingTo } from '../../builders/providers.ts';
import { at, dueAt, executions, request } from '../../builders/reconciling.ts';
import { checkDueItems } from '../../builders/runs.ts';
import { answering } from '../../builders/waiting-request.ts';

/** The answer of a provider whose task goes on. */
export const WAITING = { kind: 'waiting' } satisfies ProviderAnswer;

/** The answer of a provider that cannot tell now. */
export const BUSY = { kind: 'busy', reason: 'down' } satisfies ProviderAnswer;

/** Looks at what is due, with a provider that calls back or not and gives this answer to every query. */
export const check = async (seconds: number, answer: ProviderAnswer = WAITING, callsBack = false) => {
  const provider = answering(answer);
  provider.callsBack.mockReturnValue(callsBack);
  const checks = await checkDueItems(seconds, leadingTo(provider));
  return { provider, checks };
};

/** The outcome of a check that leaves the request for later, or is done with it. */
export const later = { kind: 'done' };

/** The outcome of a check that is to be repeated at this second. */
export const openUntil = (seconds: number) => ({ kind: 'open', nextMs: Date.parse(at(seconds)) });

/** The video request, whose execution waits under a token, due at `NOW`. */
export const waiting = (wait: object = {}) => {
  request.given().waiting({ taskToken: 'token-1', waitingSince: at(0), ...wait });
  executions.put('generation', VIDEO_ID, 'RUNNING');
  executions.wait('token-1');
  dueAt(0);
};
