import './environment.ts';
import { clearCaches } from '@aws-lambda-powertools/parameters';
import { afterAll, beforeEach } from '@jest/globals';
import type { ImageRequest } from '../../../core/requests/request-rules.ts';
import { accountKey } from '../../../core/table/keys.ts';
import { secrets } from '../fakes/fresh-secrets.ts';
import { memory } from '../fakes/fresh-table.ts';
import { WebhookReceiver } from '../servers/webhook-receiver.ts';
import { NOW } from './clocks.ts';
import { ACCOUNT_ID, anAccount, anImageRequest, putRequest, REQUEST_ID } from './entities.ts';
import { aSigningKey } from './signing-key.ts';

process.env.ALLOW_PRIVATE_TARGETS = 'true';

/** A receiver on this machine. Each test begins with it, an account and the key that signs URLs, and with nothing read. */
export const receiver = await new WebhookReceiver().start();
afterAll(() => receiver.close());
const signingKey = aSigningKey().privateKeyPem;
beforeEach(() => {
  clearCaches();
  secrets.set('arn:delivery-key', signingKey);
  receiver.reset();
  memory.put(accountKey(ACCOUNT_ID), anAccount());
});

/** Puts a request that failed at `NOW`, whose webhook goes to the receiver. Returns its id. */
export const putFailedRequest = (overrides: Partial<ImageRequest> = {}): string => {
  const { requestId } = { requestId: REQUEST_ID, ...overrides };
  putRequest(
    memory,
    anImageRequest({
      ...{ requestId, status: 'failed', finishedAt: NOW.toISOString(), webhookUrl: receiver.url },
      error: { code: 'provider_error', message: 'It broke.' },
      ...overrides,
    }),
  );
  return requestId;
};
