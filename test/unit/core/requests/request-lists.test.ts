import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { encodeTime } from 'ulid';
import { listRequestIdsOfAccount } from '../../../../core/requests/account-requests.ts';
import type { RequestFilter } from '../../../../core/requests/request-lists.ts';
import { type ImageRequest, STORED_STATUSES } from '../../../../core/requests/request-rules.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, EMAIL } from '../../builders/entities.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { given, idsOf, list, many, pageOf, queries } from './listed-requests.ts';

describe('a list of requests', () => {
  const ALL = 'REQUEST#img_';
  const since = (time: number) => `REQUEST#img_${encodeTime(time, 10)}ZZZZZZZZZZZZZZZZ`;
  const SINCE = since(NOW.getTime());
  const WEEK_AGO = since(NOW.getTime() - 7 * 86_400_000);
  const status = 'failed' as const;
  const endUserEmail = EMAIL;
  const createdAfter = NOW.toISOString();

  test('goes on after any of its requests, also with ids of the same millisecond', async () => {
    const ids = [0, 0, 0, 1, 2]
      .map((at) => given(at))
      .toSorted()
      .reverse();

    for (const [index, afterRequest] of ids.entries())
      expect(await idsOf({ afterRequest })).toEqual(ids.slice(index + 1));
    const isAscending = true;
    expect(await idsOf({ isAscending })).toEqual(ids.toReversed());
    for (const [index, afterRequest] of ids.entries())
      expect(await idsOf({ afterRequest, isAscending })).toEqual(ids.slice(0, index).reverse());
  });

  test.each<[string, RequestFilter, string, string, string]>([
    ['nothing', {}, 'GSI2', ACCOUNT_ID, ALL],
    ['the status', { status }, 'GSI2', ACCOUNT_ID, ALL],
    ['the end-user', { endUserEmail }, 'GSI3', `${ACCOUNT_ID}#${EMAIL}`, ALL],
    ['both', { endUserEmail, status }, 'GSI3', `${ACCOUNT_ID}#${EMAIL}`, ALL],
    ['the time', { createdAfter }, 'GSI2', ACCOUNT_ID, SINCE],
    ['time and status', { createdAfter, status }, 'GSI2', ACCOUNT_ID, SINCE],
    ['time and end-user', { createdAfter, endUserEmail }, 'GSI3', `${ACCOUNT_ID}#${EMAIL}`, SINCE],
    ['all three', { createdAfter, endUserEmail, status }, 'GSI3', `${ACCOUNT_ID}#${EMAIL}`, SINCE],
    ['a status before the end', { status: 'processing' }, 'GSI2', ACCOUNT_ID, WEEK_AGO],
    ['it and time', { createdAfter, status: 'processing' }, 'GSI2', ACCOUNT_ID, SINCE],
    ['the model', { model: 'xQI3Pro' }, 'GSI2', ACCOUNT_ID, ALL],
    ['model and end-user', { model: 'xQI3Pro', endUserEmail }, 'GSI3', `${ACCOUNT_ID}#${EMAIL}`, ALL],
  ])(
    'narrowed by %s is a range of one partition of one index',
    async (_, filter, index, partition, oldest) => {
      await list(filter, 3, 7);

      expect(queries()).toEqual([
        expect.objectContaining({
          IndexName: index,
          KeyConditionExpression: '#partition = :partition AND PK BETWEEN :oldest AND :newest',
          ExpressionAttributeNames: expect.objectContaining({ '#partition': `${index}PK` }),
          ExpressionAttributeValues: expect.objectContaining({
            ':partition': partition,
            ':oldest': oldest,
            ':newest': 'REQUEST#img_~',
          }),
          ScanIndexForward: false,
          // A list by status or model reads more at first: the filter may drop most entries.
          Limit: filter.status === undefined && filter.model === undefined ? 22 : 400,
        }),
      ]);
      expect(memory.calls()).toEqual({ QueryCommand: 1 });
    },
  );

  test.each([
    ['succeeded', 1],
    ['expired', 0],
    ['failed', 1],
    ['queued', 2],
    ['processing', 2],
  ] as const)(
    'of those that are %s reads %p records: an index entry does not tell queued from processing',
    async (status, records) => {
      for (const [index, each] of STORED_STATUSES.entries()) given(index, { status: each });
      await list({ status });

      const read = memory.client.commandCalls(BatchGetCommand).map(({ args }) => args[0].input);
      expect(read.flatMap(({ RequestItems }) => RequestItems?.table?.Keys ?? [])).toHaveLength(records);
    },
  );

  test('of those that are queued reads on until the page is full, 20 to 100 records at a time', async () => {
    const queued = [given(0), given(1)].reverse();
    for (let count = 2; count < 52; count++) given(count, { status: 'processing' });

    expect(await pageOf({ status: 'queued' }, 1, 1)).toEqual([queued.slice(0, 1), true]);
    expect(await pageOf({ status: 'queued' }, 2, 1)).toEqual([queued.slice(1), false]);
    const read = memory.client.commandCalls(BatchGetCommand).map(({ args }) => args[0].input);
    expect(read.map(({ RequestItems }) => RequestItems?.table?.Keys?.length)).toEqual([
      20, 20, 12, 20, 20, 12,
    ]);
  });

  test('reads the records of the page by key, consistently', async () => {
    const [, , third, fourth] = many(5);

    expect(await list({}, 2, 2)).toMatchObject({ items: [{ requestId: third }, { requestId: fourth }] });
    expect(memory.client.commandCalls(BatchGetCommand).map(({ args }) => args[0].input)).toEqual([
      {
        RequestItems: {
          table: { Keys: [third, fourth].map((id) => requestKey(String(id))), ConsistentRead: true },
        },
      },
    ]);
  });

  test.each<[string, Record<string, unknown>]>([
    ['an amount', { debitThousandths: '4' }],
    ['a kind', { kind: 'sound' }],
    ['no account', { accountId: undefined }],
  ])('leaves out an item that cannot be read, of %s of another version, and no other', async (_what, odd) => {
    const [third = '', second = '', first = ''] = many(3);
    const item = memory.get(requestKey(second)) ?? {};
    memory.put(requestKey(second), { ...item, ...odd });

    expect(await pageOf({}, 1, 2)).toEqual([[third], true]);
    expect(await pageOf({}, 2, 2)).toEqual([[first], false]);
    expect(await idsOf({ status: 'queued' })).toEqual([third, first]);
  });

  // Which requests are on which page, by any filter and at any time: request-lists-model.test.ts.
  test.each([2, 1_000_000])('on page %p, past its end, is empty and reads no record', async (page) => {
    many(3);

    expect(await list({}, page, 3)).toEqual({ items: [], page, pageSize: 3, hasMore: false });
    expect(memory.calls()).toEqual({ QueryCommand: 1 });
  });

  test('has late pages that go on where the pages before end, by any filter', async () => {
    const seconds = NOW.getTime() / 1_000;
    const ttl = seconds + 1_000;
    const endings: Partial<ImageRequest>[] = [
      { status: 'failed', ttl },
      { status: 'succeeded', ttl, expiresAt: atSeconds(-1).toISOString() },
      { status: 'succeeded', ttl, expiresAt: atSeconds(1).toISOString() },
      { status: 'failed', ttl: seconds - 1 },
    ];
    const byStatus = new Map<string | undefined, string[]>();
    for (let index = 0; index < 2_400; index++) {
      const reads = ['failed', 'expired', 'succeeded', 'gone'][index % 4];
      const id = given(index * 1_000 - 3_000_000, endings[index % 4]);
      for (const status of reads === 'gone' ? [] : [undefined, reads])
        byStatus.set(status, [id, ...(byStatus.get(status) ?? [])]);
    }

    for (const status of [undefined, 'failed', 'expired', 'succeeded'] as const) {
      expect(await pageOf({ status }, 10, 50)).toEqual([byStatus.get(status)?.slice(450, 500), true]);
    }
  });

  test('shows an index entry as its request reads now', async () => {
    const gone = given(1);
    const changed = given(2);
    const stays = given(3);
    memory.client.on(BatchGetCommand).callsFakeOnce(async () => {
      const items = [stays, changed].map((id) => memory.get(requestKey(id)));
      return {
        Responses: {
          table: items.map((item) => ({
            ...item,
            ...(item?.requestId === changed ? { status: 'processing' } : {}),
          })),
        },
      };
    });

    expect(await idsOf({ status: 'queued' })).toEqual([stays]);
    expect(gone).not.toBe(stays);
  });
});

describe('a list limited by time', () => {
  test.each<[keyof RequestFilter, string, number[]]>([
    ['createdBefore', '2026-11-20T09:00:00.000Z', [-1]],
    ['createdBefore', '2026-11-20T09:00:00.001Z', [-1, 0]],
    ['createdBefore', '2026-11-20T10:00:00.002+01:00', [-1, 0, 1]],
    ['createdBefore', '1970-01-01T00:00:00.000Z', []],
    ['createdBefore', '1969-12-31T23:59:59.999Z', []],
    ['createdBefore', '9999-12-31T23:59:59.999Z', [-1, 0, 1, 2, 1000]],
    ['createdAfter', '2026-11-20T09:00:00.000Z', [1, 2, 1000]],
    ['createdAfter', '2026-11-20T08:59:59.999Z', [0, 1, 2, 1000]],
    ['createdAfter', '2026-11-20T09:00:00.001Z', [2, 1000]],
    ['createdAfter', '2026-11-20T09:00:00.0005Z', [1, 2, 1000]],
    ['createdAfter', '2026-11-20T09:00:00.0019999Z', [2, 1000]],
    ['createdAfter', '2026-11-20T09:00:00Z', [1, 2, 1000]],
    ['createdAfter', '2026-11-20T10:00:00+01:00', [1, 2, 1000]],
    ['createdAfter', '2026-11-20T08:59:59-00:01', []],
    ['createdAfter', '2026-11-20T09:00:01.000Z', []],
    ['createdAfter', '9999-12-31T23:59:59.999Z', []],
    ['createdAfter', '1970-01-01T00:00:00.000Z', [-1, 0, 1, 2, 1000]],
    ['createdAfter', '1969-12-31T23:59:59.999Z', [-1, 0, 1, 2, 1000]],
    ['createdAfter', '0000-01-01T00:00:00.000Z', [-1, 0, 1, 2, 1000]],
  ])('by %s %s is strictly so, to the millisecond: %j', async (field, instant, expected) => {
    const ids = new Map([-1, 0, 1, 2, 1000].map((milliseconds) => [given(milliseconds), milliseconds]));

    const found = (await idsOf({ [field]: instant })).map((id) => ids.get(id));

    expect(found).toEqual([...expected].reverse());
  });

  test.each<[string, RequestFilter]>([
    ['a later one', { createdAfter: atSeconds(1).toISOString() }],
    ['the same one', { createdAfter: NOW.toISOString() }],
    [
      'a status that only newer requests have',
      { status: 'queued', createdBefore: '2026-11-01T00:00:00.000Z' },
    ],
  ])(
    'before an instant and after %s is nothing, without a query, which DynamoDB would refuse',
    async (_what, filter) => {
      given(0);

      expect(await idsOf({ createdBefore: NOW.toISOString(), ...filter })).toEqual([]);
      expect(memory.calls()).toEqual({});
    },
  );
});

describe('the ids of everything of an end-user', () => {
  test('are only theirs, images and videos in any status', async () => {
    const image = given(0, { status: 'failed', ttl: 1 });
    const video = given(1, { requestId: aRequestId(atSeconds(0.001), 'vid') });
    given(2, { endUserEmail: 'other@example.com' });
    given(3, { accountId: 'acc_01JD4KXQ8M0000000000000009' });
    memory.itemsPerQuery = 1;

    const ids: string[] = [];
    for await (const id of listRequestIdsOfAccount(ACCOUNT_ID, { endUserEmail: EMAIL })) ids.push(id);

    expect(ids).toEqual([image, video]);
    expect(queries()[0]).toMatchObject({
      IndexName: 'GSI3',
      ExpressionAttributeNames: { '#partition': 'GSI3PK' },
      ExpressionAttributeValues: { ':partition': `${ACCOUNT_ID}#${EMAIL}` },
      ScanIndexForward: false,
    });
  });
});
