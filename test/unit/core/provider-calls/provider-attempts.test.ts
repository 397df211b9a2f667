import '../../builders/environment.ts';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  type AttemptOutcome,
  claimAttempt,
  keepAttemptAlive,
  listAttempts,
  recordOutcome,
} from '../../../../core/provider-calls/provider-attempts.ts';
import { providerAttemptKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { anAttempt, REQUEST_ID } from '../../builders/entities.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
beforeEach(() => memory.reset());

const key = providerAttemptKey(REQUEST_ID, 0, 0);
const stored = () => memory.get(key);
const updates = () => memory.client.commandCalls(UpdateCommand).map(({ args }) => args[0].input);
const DONE: AttemptOutcome = { kind: 'done', outputs: [{ url: 'https://up.example.com/0.png' }] };
const ACCEPTED: AttemptOutcome = { kind: 'accepted', taskId: 'task-1' };
const FAILED: AttemptOutcome = { kind: 'failed', failure: { code: 'provider_error', message: 'broke' } };

describe('claiming an attempt', () => {
  test('stores it before the call, unless it is claimed already', async () => {
    expect(await claimAttempt(REQUEST_ID, 2, 1, NOW)).toStrictEqual(anAttempt({ call: 2, attempt: 1 }));
    expect(memory.client.commandCalls(PutCommand)[0]?.args[0].input).toStrictEqual({
      TableName: 'table',
      Item: {
        PK: `REQUEST#${REQUEST_ID}`,
        SK: 'ATTEMPT#02#01',
        ...anAttempt({ call: 2, attempt: 1 }),
        claimId: expect.any(String),
        ttl: NOW.getTime() / 1000 + 100 * 86_400,
      },
      ConditionExpression: 'attribute_not_exists(PK)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
  });

  test('succeeds when the response was lost and the retried write meets its own claim', async () => {
    memory.client.on(PutCommand).callsFakeOnce(async ({ Item }) => {
      throw new ConditionalCheckFailedException({
        message: 'The conditional request failed',
        $metadata: {},
        Item: marshall(Item),
      });
    });

    expect(await claimAttempt(REQUEST_ID, 0, 0, NOW)).toStrictEqual(anAttempt());
  });

  test('succeeds for one of many', async () => {
    const claims = await Promise.all([1, 2, 3].map(() => claimAttempt(REQUEST_ID, 0, 0, NOW)));

    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
  });

  test('throws errors of the table', async () => {
    memory.client.on(PutCommand).rejects(new Error('no table'));

    await expect(claimAttempt(REQUEST_ID, 0, 0, NOW)).rejects.toThrow('no table');
  });
});

describe('the outcome of a call', () => {
  beforeEach(() => memory.put(key, anAttempt()));

  test('is recorded with its time', async () => {
    const recorded = await recordOutcome(anAttempt(), DONE, atSeconds(3));

    expect(recorded).toStrictEqual(anAttempt({ outcome: DONE, finishedAt: atSeconds(3).toISOString() }));
    expect(updates()).toStrictEqual([
      {
        TableName: 'table',
        Key: { PK: `REQUEST#${REQUEST_ID}`, SK: 'ATTEMPT#00#00' },
        UpdateExpression: 'SET outcome = :outcome, finishedAt = :now',
        ConditionExpression:
          'attribute_exists(PK) AND (attribute_not_exists(outcome) OR outcome.kind = :accepted)',
        ExpressionAttributeValues: {
          ':outcome': DONE,
          ':accepted': 'accepted',
          ':now': atSeconds(3).toISOString(),
        },
        ReturnValues: 'ALL_NEW',
      },
    ]);
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

  test('is not recorded for an attempt that was not claimed', async () => {
    memory.reset();

    await expect(recordOutcome(anAttempt(), DONE, NOW)).rejects.toThrow('The conditional request failed');
    expect(stored()).toBeUndefined();
  });
});

test('an attempt is marked alive', async () => {
  memory.put(key, anAttempt());
  await keepAttemptAlive(anAttempt(), atSeconds(5));

  expect(stored()).toMatchObject({ aliveAt: atSeconds(5).toISOString(), startedAt: NOW.toISOString() });
  expect(updates()).toStrictEqual([
    {
      TableName: 'table',
      Key: { PK: `REQUEST#${REQUEST_ID}`, SK: 'ATTEMPT#00#00' },
      UpdateExpression: 'SET aliveAt = :now',
      ConditionExpression: 'attribute_exists(PK)',
      ExpressionAttributeValues: { ':now': atSeconds(5).toISOString() },
    },
  ]);
});

describe('the calls of a request', () => {
  test('are listed in plan order, then by attempt, over all pages', async () => {
    const [first, second, third] = [anAttempt(), anAttempt({ attempt: 1 }), anAttempt({ call: 1 })];
    memory.client
      .on(QueryCommand)
      .resolvesOnce({ Items: [{ ...first }, { ...second }], LastEvaluatedKey: { PK: 'x' } })
      .resolvesOnce({ Items: [{ ...third }] });

    expect(await listAttempts(REQUEST_ID)).toEqual([first, second, third]);
    const query = {
      TableName: 'table',
      KeyConditionExpression: 'PK = :request AND begins_with(SK, :attempts)',
      ExpressionAttributeValues: { ':request': `REQUEST#${REQUEST_ID}`, ':attempts': 'ATTEMPT#' },
      ConsistentRead: true,
    };
    expect(memory.client.commandCalls(QueryCommand).map(({ args }) => args[0].input)).toEqual([
      { ...query, ExclusiveStartKey: undefined },
      { ...query, ExclusiveStartKey: { PK: 'x' } },
    ]);
  });

  test('do not include the request itself', async () => {
    memory.put({ PK: key.PK, SK: 'REQUEST' }, { requestId: REQUEST_ID });
    memory.put(key, anAttempt());

    expect(await listAttempts(REQUEST_ID)).toEqual([anAttempt()]);
  });
});
