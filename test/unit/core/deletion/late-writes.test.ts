import { describe, expect, jest, test } from '@jest/globals';
import { claimAttempt } from '../../../../core/deliveries/webhook-attempts.ts';
import { claimAttempts } from '../../../../core/provider-calls/claim-attempts.ts';
import {
  keepAttemptAlive,
  recordCancellation,
  recordOutcome,
  recordRefusal,
  suspectAttempt,
} from '../../../../core/provider-calls/provider-attempts.ts';
import {
  beginCallbackQuery,
  claimCallbackQuery,
  claimQuery,
  holdOffQueries,
  keepTaskToken,
  recordQuery,
} from '../../../../core/provider-calls/provider-waits.ts';
import { closeDeletion, toDeletedRequest } from '../../../../core/requests/deleted-requests.ts';
import { type DueItem, reschedule } from '../../../../core/requests/due-items.ts';
import {
  checkQueuedAt,
  closeWork,
  keepStoring,
  markExpired,
  markProcessing,
  postponeExpiry,
  recordOutputs,
} from '../../../../core/requests/requests.ts';
import {
  deletedRequestKey,
  dueListing,
  providerAttemptKey,
  requestKey,
} from '../../../../core/table/keys.ts';
import { awaitProvider } from '../../../../core/waiting/await-provider.ts';
import { catchUp } from '../../../../core/waiting/catch-up.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAttempt, REQUEST_ID } from '../../builders/entities.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { accepted, answering, ENTERED } from '../../builders/waiting-request.ts';
import { aWebhookAttempt } from '../../builders/webhooks.ts';
import { MemoryExecutions } from '../../fakes/memory-executions.ts';
import { aSucceeded, everything, given, memory, remove } from './a-deletion.ts';

const at = (seconds: number): string => atSeconds(seconds).toISOString();
const attempt = anAttempt({ requestId: REQUEST_ID, ...accepted() });
const DUE: DueItem = {
  ...{ list: 'CHECK', work: { kind: 'request', requestId: REQUEST_ID }, key: requestKey(REQUEST_ID) },
  dueKey: dueListing('CHECK', REQUEST_ID, at(0)),
};
const EXPIRING = { requestId: REQUEST_ID, GSI1SK: at(0) };
const ORIGIN = { provider: 'modelark', upstreamModel: 'up', baseUrl: 'https://up.example' } as const;

describe('a request that was deleted leaves nothing, and nothing comes back by', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['an attempt of its webhook', () => claimAttempt(aWebhookAttempt(), atSeconds(1).toISOString(), false)],
    ['the token of an execution that was held up', () => keepTaskToken(REQUEST_ID, 'token', ENTERED, NOW)],
    ['a callback', () => claimCallbackQuery(REQUEST_ID, 2, NOW)],
    ['the query that a callback planned', () => beginCallbackQuery(REQUEST_ID, at(0), NOW)],
    ['a query', () => recordQuery(REQUEST_ID, NOW, false)],
    ['the last query before its deadline', () => recordQuery(REQUEST_ID, NOW, true)],
    ['a read', () => claimQuery(REQUEST_ID, 10, NOW)],
    ['a Retry-After of its provider', () => holdOffQueries(REQUEST_ID, at(60), NOW)],
    [
      'a claim of a call',
      () =>
        claimAttempts(REQUEST_ID, [{ call: 0, attempt: 0 }], {
          origin: ORIGIN,
          now: NOW,
          claimId: 'claim',
          assignment: 1,
        }),
    ],
    ['a sign of life of a call', () => keepAttemptAlive(attempt, NOW)],
    ['a suspicion of a call', () => suspectAttempt(attempt, NOW)],
    ['a refusal of its provider', () => recordRefusal(attempt, at(0))],
    ['the end of such a refusal', () => recordRefusal({ ...attempt, refusedAt: at(0) }, undefined)],
    ['a cancellation', () => recordCancellation(attempt, { kind: 'cancelled' }, NOW)],
    ['an outcome', () => recordOutcome(attempt, aDone('a'), NOW)],
    ['its processing', () => markProcessing(aSucceeded(), at(60))],
    ['a later due key', () => checkQueuedAt(REQUEST_ID, at(60))],
    ['its outputs', () => recordOutputs(REQUEST_ID, [])],
    ['some of its outputs', () => keepStoring(REQUEST_ID, { storedSoFar: [], storingSince: at(0) })],
    ['its expiry', () => markExpired(REQUEST_ID, NOW)],
    ['another attempt at its expiry', () => postponeExpiry(EXPIRING, at(60), 1)],
    ['its closing', () => closeWork(aSucceeded())],
    ['a check of what is due', () => reschedule(DUE, 'CHECK', at(60))],
  ])('%s', async (_, write) => {
    given(aSucceeded({ webhookUrl: 'https://hooks.example.com' }));
    await remove();
    expect(everything()).toEqual([]);

    await write().catch((error: Error) => expect(error.name).toBe('ConditionalCheckFailedException'));

    expect(everything()).toEqual([]);
  });

  test('the close of its deletion, when its account is gone, too', async () => {
    given();
    await remove();
    const key = deletedRequestKey(ACCOUNT_ID, REQUEST_ID);
    const deleted = toDeletedRequest(memory.get(key) ?? {});
    memory.remove(key);

    await closeDeletion(deleted);

    expect(memory.get(key)).toBeUndefined();
  });
});

describe('a deletion that comes between two calls of', () => {
  const executions = new MemoryExecutions();
  /** Deletes the request before call number `number` to the table. */
  const deletingBefore = (number: number) => {
    let calls = 0;
    memory.beforeCall = async () => {
      if (++calls !== number) return;
      memory.beforeCall = () => undefined;
      await remove();
    };
  };
  const request = aSucceeded();
  const provider = leadingTo(answering({ kind: 'busy', reason: 'full', retryAfterSeconds: 60 }));
  const clock = new StoppedClock();

  test.each([1, 2, 3])('a query leaves nothing: %p', async (number) => {
    given();
    memory.patch(providerAttemptKey(REQUEST_ID, 0, 0), accepted());
    deletingBefore(number);

    await catchUp(request, provider, clock, 1_000).catch(jest.fn());

    expect(everything()).toEqual([]);
  });

  test.each([1, 2])(
    'the beginning of a wait leaves nothing, and lets the execution go on: %p',
    async (number) => {
      executions.reset();
      executions.wait('token');
      given();
      deletingBefore(number);

      await awaitProvider({ requestId: REQUEST_ID, taskToken: 'token', ...ENTERED }, provider, clock);

      expect(everything()).toEqual([]);
      expect(executions.woken).toEqual([{ taskToken: 'token', output: { result: { next: 'stop' } } }]);
    },
  );
});
