import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { table } from '../../../core/table/table.ts';
import { mockClient } from './mocked-client.ts';

const client = mockClient(table);
beforeEach(() => client.reset());

const get = (PK: string) => table.send(new GetCommand({ TableName: 'table', Key: { PK, SK: 'x' } }));
const found = (n: number) => ({ Item: { n } });

describe('a mocked client answers', () => {
  test('with the last that matches, and undefined to all else', async () => {
    client.on(GetCommand).resolves(found(1));
    client.on(GetCommand, { Key: { PK: 'a' } }).resolves(found(2));

    expect([await get('a'), await get('b')]).toEqual([found(2), found(1)]);
    expect(await table.send(new DeleteCommand({ TableName: 'table', Key: {} }))).toBeUndefined();
  });

  test.each([[{ Key: { PK: 'a' } }], [{ Key: { PK: 'a', SK: 'x' }, TableName: 'table' }], [{}]])(
    'by a part of the input: %j',
    async (part) => {
      client.on(GetCommand, part).resolves(found(1));

      expect(await get('a')).toEqual(found(1));
    },
  );

  test.each([[{ Key: { PK: 'b' } }], [{ Key: { PK: 'a', more: 1 } }], [{ ConsistentRead: true }]])(
    'not by what the input has otherwise: %j',
    async (part) => {
      client.on(GetCommand, part).resolves(found(1));

      expect(await get('a')).toBeUndefined();
    },
  );

  test('once what is told once, in order, and then what is served', async () => {
    client.serve([[GetCommand, ({ Key }) => found(Key.PK.length)]]);
    client.on(GetCommand).resolvesOnce(found(1)).rejectsOnce(new Error('no'));

    expect(await get('abc')).toEqual(found(1));
    await expect(get('abc')).rejects.toThrow('no');
    expect(await get('abc')).toEqual(found(3));
  });

  test('an error that an answer throws as a refusal', async () => {
    client.callsFake(() => {
      throw new Error('no');
    });

    await expect(get('a')).rejects.toThrow('no');
  });
});

test('a mocked client knows its calls until it forgets them', async () => {
  await get('a');
  await table.send(new DeleteCommand({ TableName: 'table', Key: {} }));

  expect(client.calls()).toHaveLength(2);
  expect(client.commandCalls(GetCommand).map(({ args }) => args[0].input.Key)).toEqual([
    { PK: 'a', SK: 'x' },
  ]);
  client.resetHistory();
  expect(client.calls()).toEqual([]);
});
