import '../../builders/environment.ts';
import { beforeEach, jest } from '@jest/globals';
import { dispatchRequest } from '../../../../core/dispatch/dispatch-request.ts';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import type { Provider, ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { providerAttemptKey, requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { anAttempt, anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { leadingTo } from '../../builders/providers.ts';
import { MemorySecrets } from '../../fakes/memory-secrets.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

/** The table, with one queued request for one image. */
export const memory = new MemoryTable(table);
const secrets = new MemorySecrets();
beforeEach(() => {
  secrets.reset();
  secrets.set('arn:callback-secret', 'secret');
  memory.reset();
  given({});
});

/** Puts the request as it is then. */
export const given = (request: Partial<ImageRequest>) =>
  memory.put(requestKey(REQUEST_ID), anImageRequest(request));
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
/** Dispatches the request to this provider. */
export const run = (provider: Provider, clock = new StoppedClock()) =>
  dispatchRequest(REQUEST_ID, leadingTo(provider), clock);

/** An answer that the provider is too busy. */
export const BUSY = { kind: 'busy', reason: 'full' } as const satisfies ProviderAnswer;
jest.spyOn(Math, 'random').mockReturnValue(0);
/** An attempt whose process has died, and was found to. */
export const DEAD = { aliveAt: atSeconds(-60).toISOString(), suspectedAt: atSeconds(-30).toISOString() };
/** The outcome of a call whose process died. */
export const LOST = {
  kind: 'lost',
  failure: {
    code: 'provider_error',
    message: 'The outcome of the call to the upstream provider is not known.',
  },
};
