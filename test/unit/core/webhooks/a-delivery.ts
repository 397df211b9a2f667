import { beforeEach } from '@jest/globals';
import type { Account } from '../../../../core/accounts/accounts.ts';
import type { StoredRequest } from '../../../../core/requests/request-rules.ts';
import { accountKey } from '../../../../core/table/keys.ts';
import type { Clock } from '../../../../core/time.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount, anImageRequest, aStoredOutput, putRequest } from '../../builders/entities.ts';
import { deliverNext } from '../../builders/next-attempt.ts';
import { RETRY_SECONDS } from '../../builders/webhook-schedule.ts';
import { receiver } from '../../builders/webhook-world.ts';
import { memory } from '../../fakes/fresh-table.ts';

/** The secret of the account. */
export const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';

process.env.WEBHOOK_RETRY_SECONDS = RETRY_SECONDS;
beforeEach(() => putAccount());

/** Puts the account, with its secret. */
export const putAccount = (overrides: Partial<Account> = {}): void =>
  memory.put(accountKey(ACCOUNT_ID), anAccount({ webhookSecret: SECRET, ...overrides }));

/** The instant at which the requests ended. */
export const finishedAt = NOW.toISOString();

/** The instant at which files of the requests expire. */
export const expiresAt = atSeconds(3600).toISOString();

/** The ending of a request that succeeded. */
export const succeeded = { status: 'succeeded', finishedAt, expiresAt, costThousandths: 4_000 } as const;

/** The ending of a request that failed. */
export const failed = {
  status: 'failed',
  finishedAt,
  error: { code: 'content_policy', message: 'The content was refused.' },
} as const;

/** A request that succeeded, whose webhook goes to the receiver. */
export const anEndedRequest = () =>
  anImageRequest({ ...succeeded, outputs: [aStoredOutput(0)], webhookUrl: receiver.url });

/** Makes the next attempt of the request's first delivery, without jitter. */
export const deliver = (
  request: StoredRequest = anEndedRequest(),
  { clock = new StoppedClock(), delivery = request.requestId }: { clock?: Clock; delivery?: string } = {},
) => {
  putRequest(memory, request);
  return deliverNext(memory, { subjectId: request.requestId, delivery }, clock, () => 0.5);
};
