import { BatchGetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { insertAccount, listAccounts } from '../../../../core/accounts/accounts.ts';
import { insertApiKey, listApiKeys } from '../../../../core/accounts/api-keys.ts';
import { accountKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

const queries = () => memory.client.commandCalls(QueryCommand).map(({ args }) => args[0].input);
const keysPerRead = () =>
  memory.client
    .commandCalls(BatchGetCommand)
    .map(({ args }) => args[0].input.RequestItems?.table?.Keys?.length);

const inThree = <T>(make: (now: Date) => Promise<T>): Promise<T[]> =>
  Promise.all([2, 0, 1].map((seconds) => make(atSeconds(seconds))));

describe('a list for the operator', () => {
  const limits = { requestsPerSecond: 50, burst: 100 };
  const aKey = async (now: Date) =>
    (await insertApiKey(ACCOUNT_ID, { scopes: [], label: '', limits }, now)).apiKey;

  test.each<[string, (now: Date) => Promise<object>, () => Promise<object[]>, string]>([
    ['of accounts', (now) => insertAccount('one', now), listAccounts, 'ACCOUNTS'],
    ['of keys', aKey, () => listApiKeys(ACCOUNT_ID), `ACCOUNT#${ACCOUNT_ID}#KEYS`],
  ])(
    '%s is read from the index to its end, oldest first, and then by key',
    async (_, make, list, partition) => {
      const [third, first, second] = await inThree(make);
      memory.itemsPerQuery = 1;

      expect(await list()).toEqual([first, second, third]);

      const query = {
        TableName: 'table',
        IndexName: 'GSI1',
        KeyConditionExpression: '#partition = :partition',
        ExpressionAttributeNames: { '#partition': 'GSI1PK' },
        ExpressionAttributeValues: { ':partition': partition },
      };
      expect(queries()).toEqual([query, query, query, query].map((each) => expect.objectContaining(each)));
      expect(queries().map(({ ExclusiveStartKey }) => ExclusiveStartKey !== undefined)).toEqual([
        false,
        true,
        true,
        true,
      ]);
      expect(keysPerRead()).toEqual([3]);
    },
  );

  test('leaves out items removed since the index was read', async () => {
    const [first, second] = [await insertAccount('first', NOW), await insertAccount('second', atSeconds(1))];
    memory.client.on(BatchGetCommand).callsFakeOnce(async () => {
      memory.remove(accountKey(first.accountId));
      return { Responses: { table: [memory.get(accountKey(second.accountId))] } };
    });

    expect(await listAccounts()).toEqual([second]);
  });

  test('of nothing reads no item', async () => {
    expect(await listAccounts()).toEqual([]);
    expect(memory.calls()).toEqual({ QueryCommand: 1 });
  });
});
