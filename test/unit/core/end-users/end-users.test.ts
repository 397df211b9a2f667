import '../../builders/environment.ts';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  blockEndUser,
  countCreationWrite,
  countSettlementWrite,
  type EndUser,
  getEndUser,
  renderEndUser,
  toEndUser,
  unblockEndUser,
} from '../../../../core/end-users/end-users.ts';
import { NotFoundError } from '../../../../core/errors.ts';
import { endUserKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anEndUser,
  anImageRequest,
  EMAIL,
  putEndUser,
  REQUEST_ID,
} from '../../builders/entities.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
beforeEach(() => memory.reset());

const id = { accountId: ACCOUNT_ID, email: EMAIL };
const key = { PK: `USERS#${ACCOUNT_ID}`, SK: `END_USER#${EMAIL}` };
const stored = () => memory.get(endUserKey(ACCOUNT_ID, EMAIL));
const update = () => memory.client.commandCalls(UpdateCommand)[0]?.args[0].input;

describe('an end-user', () => {
  test('is read by address, consistently, without its keys', async () => {
    putEndUser(memory, anEndUser());

    expect(await getEndUser(id)).toStrictEqual(anEndUser());
    expect(memory.client.commandCalls(GetCommand)[0]?.args[0].input).toStrictEqual({
      TableName: 'table',
      Key: key,
      ConsistentRead: true,
    });
  });

  test('is shown with a decimal amount and whether they are blocked, and nothing of the inside', () => {
    const shown = {
      email: EMAIL,
      createdAt: '2026-11-10T09:00:00.000Z',
      lastActiveAt: '2026-11-19T09:00:00.000Z',
      totalRequests: 2,
      totalXTokensSpent: 8.125,
      blockedAt: null,
    };
    const blockedAt = NOW.toISOString();

    expect(renderEndUser(anEndUser({ spentThousandths: 8_125 }))).toStrictEqual(shown);
    expect(
      renderEndUser(anEndUser({ spentThousandths: 8_125, blockedAt, deletingAt: blockedAt })),
    ).toStrictEqual({ ...shown, blockedAt });
  });

  test('that is stored malformed is refused, not guessed', () => {
    expect(() => toEndUser({ ...anEndUser(), activeRequests: undefined })).toThrow();
  });

  test.each<[string, () => Promise<unknown>]>([
    ['read', () => getEndUser(id)],
    ['blocked', () => blockEndUser(id, NOW)],
    ['unblocked', () => unblockEndUser(id)],
  ])('that does not exist cannot be %s, and is not inserted by the attempt', async (_, act) => {
    putEndUser(memory, anEndUser({ email: 'other@example.com' }));

    await expect(act()).rejects.toThrow(NotFoundError);
    expect(stored()).toBeUndefined();
  });

  test.each<[string, () => Promise<unknown>]>([
    ['blocking', () => blockEndUser(id, NOW)],
    ['unblocking', () => unblockEndUser(id)],
  ])('%s lets errors of the table through', async (_, act) => {
    memory.client.rejects(new Error('no table'));

    await expect(act()).rejects.toThrow('no table');
  });
});

describe('blocking an end-user', () => {
  test('is one conditional update', async () => {
    putEndUser(memory, anEndUser());

    expect(await blockEndUser(id, NOW)).toStrictEqual(anEndUser({ blockedAt: NOW.toISOString() }));
    expect(update()).toStrictEqual({
      TableName: 'table',
      Key: key,
      UpdateExpression: 'SET blockedAt = :now',
      ExpressionAttributeValues: { ':now': NOW.toISOString() },
      ConditionExpression: 'attribute_exists(PK)',
      ReturnValues: 'ALL_NEW',
    });
  });

  test('again is from the later instant on', async () => {
    putEndUser(memory, anEndUser({ blockedAt: NOW.toISOString() }));

    expect((await blockEndUser(id, atSeconds(5))).blockedAt).toBe(atSeconds(5).toISOString());
    expect(stored()).toMatchObject({ blockedAt: atSeconds(5).toISOString() });
  });

  test('ends with unblocking, which is harmless again and again', async () => {
    putEndUser(memory, anEndUser({ blockedAt: NOW.toISOString() }));

    expect(await unblockEndUser(id)).toStrictEqual(anEndUser());
    expect(update()).toStrictEqual({
      TableName: 'table',
      Key: key,
      UpdateExpression: 'REMOVE blockedAt',
      ConditionExpression: 'attribute_exists(PK)',
      ReturnValues: 'ALL_NEW',
    });
    expect(stored()).not.toHaveProperty('blockedAt');
    expect(await unblockEndUser(id)).toStrictEqual(anEndUser());
  });
});

describe('the counters of an end-user', () => {
  const write = (found?: EndUser) => countCreationWrite(anImageRequest(), found).Update;
  const expected = {
    TableName: 'table',
    Key: key,
    UpdateExpression:
      'SET accountId = :account, email = :email, endUserId = :id, ' +
      'createdAt = if_not_exists(createdAt, :now), GSI1PK = :listing, ' +
      'GSI1SK = if_not_exists(GSI1SK, :place), lastActiveAt = :last ' +
      'ADD totalRequests :one, activeRequests :one, spentThousandths :price',
    ConditionExpression:
      'attribute_not_exists(blockedAt) AND attribute_not_exists(deletingAt) AND ' +
      'attribute_not_exists(endUserId) AND (attribute_not_exists(lastActiveAt) OR lastActiveAt <= :last)',
    ExpressionAttributeValues: {
      ':account': ACCOUNT_ID,
      ':email': EMAIL,
      ':id': REQUEST_ID,
      ':now': NOW.toISOString(),
      ':last': NOW.toISOString(),
      ':listing': `END_USERS#${ACCOUNT_ID}`,
      ':place': NOW.toISOString(),
      ':one': 1,
      ':price': 4_000,
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };

  test('count a creation, which creates the end-user on first use, and not while blocked or being removed', () => {
    expect(write()).toStrictEqual(expected);
  });

  test('count a creation with the end-user that was found, whose last activity only gets later', () => {
    const lastActiveAt = atSeconds(1).toISOString();

    expect(write(anEndUser({ endUserId: 'own', lastActiveAt }))).toStrictEqual({
      ...expected,
      ConditionExpression: expected.ConditionExpression.replace(
        'attribute_not_exists(endUserId)',
        'endUserId = :id',
      ),
      ExpressionAttributeValues: {
        ...expected.ExpressionAttributeValues,
        ':id': 'own',
        ':last': lastActiveAt,
      },
    });
  });

  test('count a settlement with its refund, even if the end-user was blocked since', () => {
    expect(countSettlementWrite(id, 1_500)).toStrictEqual({
      Update: {
        TableName: 'table',
        Key: key,
        UpdateExpression: 'ADD activeRequests :minusOne, spentThousandths :minusRefund',
        ConditionExpression: 'attribute_exists(PK)',
        ExpressionAttributeValues: { ':minusOne': -1, ':minusRefund': -1_500 },
      },
    });
  });
});
