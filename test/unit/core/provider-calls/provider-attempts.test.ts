import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  type AttemptOutcome,
  findRequestAndAttempts,
  keepAttemptAlive,
  listAttempts,
  recordOutcome,
  suspectAttempt,
} from '../../../../core/provider-calls/provider-attempts.ts';
import {
  providerAttemptKey,
  providerWaitKey,
  requestKey,
  webhookAttemptKey,
} from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { anAttempt, anImageRequest, REQUEST_ID, VIDEO_ID } from '../../builders/entities.ts';
import { tableError } from '../../builders/table-errors.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { trafficCounted } from '../../fakes/metrics.ts';

const key = providerAttemptKey(REQUEST_ID, 0, 0);
const stored = () => memory.get(key);
const DONE: AttemptOutcome = { kind: 'done', outputs: [{ url: 'https://up.example.com/0.png' }] };
const ACCEPTED: AttemptOutcome = { kind: 'accepted', taskId: 'task-1' };
const FAILED = { kind: 'failed', failure: { code: 'provider_error', message: 'broke' } } as const;

describe('an outcome of another version', () => {
  test.each<[string, object]>([
    ['a kind', { kind: 'half-done', outputs: [] }],
    ['an output', { kind: 'done', outputs: [{ object: 's3' }] }],
  ])('with %s that is not known can be read beside others, and stays as it is', async (_what, outcome) => {
    const odd = { ...anAttempt(), outcome };
    memory.put(key, odd);
    memory.put(providerAttemptKey(REQUEST_ID, 1, 0), anAttempt({ call: 1, outcome: DONE }));

    const outcomes = (await listAttempts(REQUEST_ID)).map((attempt) => attempt.outcome);
    const recorded = await recordOutcome(anAttempt(), { kind: 'lost', failure: FAILED.failure }, NOW);

    expect(outcomes).toEqual([{ kind: 'unreadable' }, DONE]);
    expect(recorded.outcome).toEqual({ kind: 'unreadable' });
    expect(stored()).toEqual({ ...key, ...odd });
  });

  test('of a failure that says in another way whether the call was taken says that it is not known', async () => {
    memory.put(key, { ...anAttempt(), outcome: { ...FAILED, taken: 'half' } });

    expect((await listAttempts(REQUEST_ID))[0]?.outcome).toEqual({ ...FAILED, taken: 'unknown' });
  });
});

describe('the outcome of a call', () => {
  beforeEach(() => memory.put(key, anAttempt()));

  test('is recorded with its time', async () => {
    const recorded = await recordOutcome(anAttempt(), DONE, atSeconds(3));

    expect(recorded).toStrictEqual(anAttempt({ outcome: DONE, finishedAt: atSeconds(3).toISOString() }));
    expect(stored()).toEqual({ ...key, ...recorded });
    expect(memory.calls()).toEqual({ UpdateCommand: 1 });
  });

  test('replaces an accepted task but keeps its id', async () => {
    const open = await recordOutcome(anAttempt(), ACCEPTED, atSeconds(1));
    expect(open).toStrictEqual(anAttempt({ outcome: ACCEPTED, taskId: 'task-1' }));

    expect(await recordOutcome(open, DONE, atSeconds(9))).toStrictEqual(
      anAttempt({ outcome: DONE, taskId: 'task-1', finishedAt: atSeconds(9).toISOString() }),
    );
  });

  test.each([FAILED, DONE, { kind: 'busy', reason: 'full' } as const])(
    'stands once it is final: $kind is not replaced, and is returned',
    async (first) => {
      const recorded = await recordOutcome(anAttempt(), first, atSeconds(1));

      expect(await recordOutcome(anAttempt(), ACCEPTED, atSeconds(2))).toStrictEqual(recorded);
      expect(await recordOutcome(anAttempt(), { ...DONE, outputs: [] }, atSeconds(2))).toStrictEqual(
        recorded,
      );
      expect(stored()?.outcome).toEqual(first);
    },
  );

  test('is stored with its own call and attempt only', async () => {
    memory.put(providerAttemptKey(REQUEST_ID, 1, 1), anAttempt({ call: 1, attempt: 1, outcome: FAILED }));
    memory.put(providerAttemptKey(REQUEST_ID, 0, 1), anAttempt({ call: 0, attempt: 1, outcome: FAILED }));
    memory.put(providerAttemptKey(REQUEST_ID, 1, 0), anAttempt({ call: 1, attempt: 0, outcome: DONE }));

    expect(await recordOutcome(anAttempt({ call: 1, attempt: 0 }), FAILED, NOW)).toStrictEqual(
      anAttempt({ call: 1, attempt: 0, outcome: DONE }),
    );
  });

  test('is recorded though a transaction holds the attempt', async () => {
    const send = jest.spyOn(table, 'send');
    send.mockRejectedValueOnce(tableError('TransactionConflictException') as never);

    await recordOutcome(anAttempt(), DONE, atSeconds(3));

    expect(stored()).toMatchObject({ outcome: DONE });
    expect(send).toHaveBeenCalledTimes(2);
    send.mockRestore();
  });

  test('is counted by provider when it is final, and once', async () => {
    const counted = trafficCounted();
    memory.put(key, anAttempt({ provider: 'modelark' }));

    const open = await recordOutcome(anAttempt({ provider: 'modelark' }), ACCEPTED, atSeconds(1));
    expect(counted()).toEqual([]);
    await recordOutcome(open, DONE, atSeconds(2));
    await recordOutcome(open, FAILED, atSeconds(3));

    expect(counted()).toEqual([['ProviderCalls', { provider: 'modelark', outcome: 'done' }]]);
  });

  test('is returned, and not recorded, for an attempt that was deleted', async () => {
    memory.reset();

    expect(await recordOutcome(anAttempt(), DONE, NOW)).toEqual({ ...anAttempt(), outcome: DONE });
    expect(stored()).toBeUndefined();
  });
});

describe('suspecting the process that makes a call', () => {
  test('is recorded once, until it marks the call alive', async () => {
    memory.put(key, anAttempt());

    await suspectAttempt(anAttempt(), atSeconds(20));
    await suspectAttempt(anAttempt(), atSeconds(25));
    expect(stored()).toMatchObject({ suspectedAt: atSeconds(20).toISOString() });

    await keepAttemptAlive(anAttempt(), atSeconds(26));
    expect(stored()).toEqual({ ...key, ...anAttempt({ aliveAt: atSeconds(26).toISOString() }) });
    expect(memory.calls()).toEqual({ UpdateCommand: 3 });
  });

  test('has no effect once it has marked the call alive', async () => {
    memory.put(key, anAttempt({ aliveAt: atSeconds(20).toISOString() }));

    await suspectAttempt(anAttempt(), atSeconds(21));

    expect(stored()).not.toHaveProperty('suspectedAt');
  });
});

describe('the calls of a request', () => {
  test('are listed in plan order, then by attempt, over all pages', async () => {
    // The keys of a hundred attempts and more are not in order.
    const attempts = [...[0, 1, 99, 100].map((attempt) => anAttempt({ attempt })), anAttempt({ call: 1 })];
    for (const each of attempts) memory.put(providerAttemptKey(REQUEST_ID, each.call, each.attempt), each);
    memory.put(requestKey(REQUEST_ID), anImageRequest());
    memory.put(providerAttemptKey(VIDEO_ID, 0, 0), anAttempt({ requestId: VIDEO_ID }));
    memory.itemsPerQuery = 3;

    expect(await listAttempts(REQUEST_ID)).toEqual(attempts);
    const queries = memory.client.commandCalls(QueryCommand);
    expect(queries.map(({ args }) => args[0].input.ConsistentRead)).toEqual([true, true]);
  });

  test('are found with it in one read, without its wait and its webhooks', async () => {
    memory.put(requestKey(REQUEST_ID), anImageRequest());
    for (const attempt of [100, 0, 99])
      memory.put(providerAttemptKey(REQUEST_ID, 0, attempt), anAttempt({ attempt }));
    memory.put(providerWaitKey(REQUEST_ID), { requestId: REQUEST_ID });
    memory.put(webhookAttemptKey(REQUEST_ID, 'first', 1), { requestId: REQUEST_ID });

    const { request, attempts } = await findRequestAndAttempts(REQUEST_ID);

    expect(request).toMatchObject(anImageRequest());
    expect(attempts.map(({ attempt }) => attempt)).toEqual([0, 99, 100]);
    expect(memory.calls()).toEqual({ QueryCommand: 1 });
    expect(memory.client.commandCalls(QueryCommand)[0]?.args[0].input).toMatchObject({
      ConsistentRead: true,
    });
  });

  test('are found without it, once it was removed', async () => {
    memory.put(key, anAttempt());

    expect(await findRequestAndAttempts(REQUEST_ID)).toEqual({
      request: undefined,
      attempts: [anAttempt()],
    });
  });
});
