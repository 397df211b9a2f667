import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import { dispatchRequest } from '../../../../core/dispatch/dispatch-request.ts';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import type { Provider, ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { providerAttemptKey, requestKey } from '../../../../core/table/keys.ts';
import { at, StoppedClock } from '../../builders/clocks.ts';
import { anAttempt, anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { leadingTo } from '../../builders/providers.ts';
import { secrets } from '../../fakes/fresh-secrets.ts';
import { memory } from '../../fakes/fresh-table.ts';

export { memory };

/** The table has one queued request for one image. */
beforeEach(() => {
  secrets.set('arn:callback-secret', 'secret');
  given({});
});

/** Puts the request as it is then. */
export const given = (request: Partial<ImageRequest>) =>
  memory.put(requestKey(REQUEST_ID), anImageRequest({ assignment: ASSIGNED, ...request }));
/** The assignment of the request to the route of its model. */
export const ASSIGNED = { route: 'modelstudio/qwen-image', number: 1 };
/** Puts an attempt of one of its calls. */
export const givenAttempt = (attempt: Partial<ProviderAttempt>) => {
  const whole = anAttempt(attempt);
  memory.put(providerAttemptKey(REQUEST_ID, whole.call, whole.attempt), whole);
};
/** The status of the request as stored. */
export const status = () => memory.get(requestKey(REQUEST_ID))?.status;
/** The attempts as stored. */
export const attempts = () =>
  memory.partition(`REQUEST#${REQUEST_ID}`).filter(({ SK }) => String(SK).startsWith('ATTEMPT#'));
/** Dispatches the request to this provider, in a function with so much time left. */
export const run = (provider: Provider, clock = new StoppedClock(), timeLeftMs?: number) =>
  dispatchRequest(REQUEST_ID, leadingTo(provider), clock, timeLeftMs);

/** Fakes the timers of each test of a file: none is left at its end. Returns its clock, and lets both advance. */
export const withFakedTimers = () => {
  let clock = new StoppedClock();
  beforeEach(() => {
    jest.useFakeTimers();
    clock = new StoppedClock();
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });
  const pass = async (seconds: number): Promise<void> => {
    await jest.advanceTimersByTimeAsync(0);
    for (let second = 0; second < seconds; second++) {
      clock.advance(1);
      await jest.advanceTimersByTimeAsync(1000);
    }
  };
  return { clock: () => clock, pass };
};

/** An answer that the provider is too busy. */
export const BUSY = { kind: 'busy', reason: 'full' } as const satisfies ProviderAnswer;
export const ACCEPTED = { kind: 'accepted', taskId: 'task-1' } as const satisfies ProviderAnswer;
jest.spyOn(Math, 'random').mockReturnValue(0);
/** An attempt whose process has died, and was found to. */
export const DEAD = { aliveAt: at(-60), suspectedAt: at(-30) };
/** The outcome of a call whose process died. */
export const LOST = {
  kind: 'lost',
  failure: {
    code: 'provider_error',
    message: 'The outcome of the call to the upstream provider is not known.',
  },
};
