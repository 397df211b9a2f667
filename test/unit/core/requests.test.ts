import '../builders/environment.ts';
import { GetCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { NotFoundError } from '../../../core/errors.ts';
import { newRequestId } from '../../../core/ids.ts';
import {
  deletedRequestKey,
  OPEN_WORK_SHARDS,
  openWorkListing,
  openWorkPartition,
  requestKey,
} from '../../../core/keys.ts';
import {
  closeWork,
  costOf,
  findRequest,
  getRequest,
  type ImageRequest,
  isTerminal,
  markExpired,
  markProcessing,
  maxOutputs,
  recordOutputs,
  removeRequest,
  toRequest,
} from '../../../core/requests.ts';
import { table } from '../../../core/table.ts';
import { atSeconds, NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anImageRequest,
  aStoredOutput,
  aStoredVideo,
  aVideoRequest,
  EMAIL,
  listingOf,
  putRequest,
  REQUEST_ID,
} from '../builders/entities.ts';
import { MemoryTable } from '../fakes/memory-table.ts';

const memory = new MemoryTable(table);
beforeEach(() => memory.reset());

const given = (request: Partial<ImageRequest>) => putRequest(memory, anImageRequest(request));
const stored = () => memory.get(requestKey(REQUEST_ID));
const update = () => memory.client.commandCalls(UpdateCommand)[0]?.args[0].input;

describe('a request', () => {
  test('is read by its id, consistently, without its keys', async () => {
    given({ references: ['https://images.example.com/0.png'] });

    const { GSI1PK } = openWorkListing(REQUEST_ID, NOW.toISOString());
    expect(await findRequest(REQUEST_ID)).toStrictEqual(
      anImageRequest({ references: ['https://images.example.com/0.png'], GSI1PK }),
    );
    expect(memory.client.commandCalls(GetCommand)[0]?.args[0].input).toStrictEqual({
      TableName: 'table',
      Key: { PK: `REQUEST#${REQUEST_ID}`, SK: 'REQUEST' },
      ConsistentRead: true,
    });
  });

  test('for a video is read as it was written', async () => {
    const video = aVideoRequest({
      status: 'succeeded',
      image: 'https://caller.example/first.png',
      lastFrame: 'https://caller.example/last.png',
      referenceAudios: ['https://caller.example/a.mp3'],
      outputs: [aStoredVideo()],
      operatorNote: 'checked',
    });
    putRequest(memory, video);

    expect(await findRequest(video.requestId)).toStrictEqual(video);
  });

  test('that does not exist is not found', async () => {
    expect(await findRequest(REQUEST_ID)).toBeUndefined();
    await expect(getRequest(REQUEST_ID)).rejects.toThrow(NotFoundError);
  });

  test('that is stored malformed is refused, not guessed', () => {
    expect(() => toRequest({ ...anImageRequest(), status: 'expired' })).toThrow();
    expect(() => toRequest({ ...anImageRequest(), kind: 'audio' })).toThrow();
    expect(() => toRequest({ ...anImageRequest(), kind: 'video' })).toThrow();
    expect(() => toRequest({ ...aVideoRequest(), billedSeconds: undefined })).toThrow();
    expect(() => toRequest({ ...anImageRequest(), debitThousandths: undefined })).toThrow();
  });

  test.each([
    ['queued', false],
    ['processing', false],
    ['succeeded', true],
    ['failed', true],
  ] as const)('that is %s is terminal: %p', (status, expected) => {
    expect(isTerminal({ status })).toBe(expected);
  });
});

describe('marking a request as processing', () => {
  test('is one conditional update', async () => {
    given({});
    await markProcessing(anImageRequest());

    expect(update()).toStrictEqual({
      TableName: 'table',
      Key: { PK: `REQUEST#${REQUEST_ID}`, SK: 'REQUEST' },
      UpdateExpression: 'SET #status = :status, #GSI3PK = :GSI3PK, #GSI5PK = :GSI5PK',
      ConditionExpression: '#status = :queued',
      ExpressionAttributeNames: { '#status': 'status', '#GSI3PK': 'GSI3PK', '#GSI5PK': 'GSI5PK' },
      ExpressionAttributeValues: {
        ':status': 'processing',
        ':GSI3PK': `${ACCOUNT_ID}#processing`,
        ':GSI5PK': `${ACCOUNT_ID}#${EMAIL}#processing`,
        ':queued': 'queued',
      },
    });
    const processing = anImageRequest({ status: 'processing' });
    expect(stored()).toEqual({ ...requestKey(REQUEST_ID), ...processing, ...listingOf(processing) });
  });

  test.each(['processing', 'succeeded', 'failed'] as const)('leaves one that is %s alone', async (status) => {
    given({ status });
    await markProcessing(anImageRequest());

    expect(stored()).toEqual({
      ...requestKey(REQUEST_ID),
      ...anImageRequest({ status }),
      ...listingOf(anImageRequest({ status })),
    });
  });

  test('makes no request of one that is gone', async () => {
    await markProcessing(anImageRequest());

    expect(stored()).toBeUndefined();
  });
});

describe('recording outputs', () => {
  const outputs = [aStoredOutput(0), { index: 1 }];

  test('is one conditional update', async () => {
    given({ status: 'processing' });

    expect(await recordOutputs(REQUEST_ID, outputs)).toBe(true);
    expect(update()).toStrictEqual({
      TableName: 'table',
      Key: { PK: `REQUEST#${REQUEST_ID}`, SK: 'REQUEST' },
      UpdateExpression: 'SET outputs = :outputs',
      ConditionExpression: '#status = :processing',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':processing': 'processing', ':outputs': outputs },
    });
    expect(stored()).toMatchObject({ outputs });
  });

  test.each(['queued', 'succeeded', 'failed'] as const)('leaves one that is %s alone', async (status) => {
    given({ status });

    expect(await recordOutputs(REQUEST_ID, outputs)).toBe(false);
    expect(stored()).not.toHaveProperty('outputs');
  });

  test('lets errors of the table through', async () => {
    memory.client.on(UpdateCommand).rejects(new Error('no table'));

    await expect(recordOutputs(REQUEST_ID, outputs)).rejects.toThrow('no table');
    await expect(markProcessing(anImageRequest())).rejects.toThrow('no table');
  });
});

describe('removing a request', () => {
  const outputs = [aStoredOutput(0), { index: 1 }, aStoredOutput(2)];
  const files = [aStoredOutput(0).objectKey, aStoredOutput(2).objectKey];
  const remove = () => removeRequest({ accountId: ACCOUNT_ID, requestId: REQUEST_ID, outputs }, NOW);
  const MARK = { accountId: ACCOUNT_ID, requestId: REQUEST_ID, deletedAt: NOW.toISOString(), files };
  const mark = () => memory.get(deletedRequestKey(ACCOUNT_ID, REQUEST_ID));

  test.each(['succeeded', 'failed'] as const)(
    'that %s is one transaction, which leaves a mark beside the ledger entries, with the files that are left',
    async (status) => {
      given({ status });

      expect(await remove()).toEqual(MARK);
      expect(stored()).toBeUndefined();
      expect(memory.transactions.map(({ TransactItems }) => TransactItems)).toStrictEqual([
        [
          {
            Delete: {
              TableName: 'table',
              Key: { PK: `REQUEST#${REQUEST_ID}`, SK: 'REQUEST' },
              ConditionExpression: '#status IN (:succeeded, :failed)',
              ExpressionAttributeNames: { '#status': 'status' },
              ExpressionAttributeValues: { ':succeeded': 'succeeded', ':failed': 'failed' },
            },
          },
          {
            Put: {
              TableName: 'table',
              Item: {
                PK: `LEDGER#${ACCOUNT_ID}`,
                SK: `DELETED#${REQUEST_ID}`,
                ...openWorkListing(REQUEST_ID, NOW.toISOString()),
                ...MARK,
              },
            },
          },
        ],
      ]);
    },
  );

  test.each(['queued', 'processing'] as const)(
    'that is %s leaves it alone, without a mark',
    async (status) => {
      given({ status });

      expect(await remove()).toBeUndefined();
      expect(stored()).toMatchObject({ status });
      expect(mark()).toBeUndefined();
    },
  );

  test('that is gone leaves no mark of what never was', async () => {
    expect(await remove()).toBeUndefined();
    expect(mark()).toBeUndefined();
  });

  test('by everyone at once is done by one', async () => {
    given({ status: 'failed' });

    const removals = await Promise.all(Array.from({ length: 5 }, remove));

    expect(removals.filter(Boolean)).toHaveLength(1);
    expect(await remove()).toBeUndefined();
    expect(mark()).toMatchObject(MARK);
  });

  test('lets errors of the table through', async () => {
    memory.client.on(TransactWriteCommand).rejects(new Error('no table'));

    await expect(remove()).rejects.toThrow('no table');
  });
});

describe('a request that delivered something', () => {
  test.each([
    ['images', anImageRequest({ images: 3 }), 3],
    ['a sequence', anImageRequest({ images: 15, sequential: true }), 15],
    ['a video', aVideoRequest(), 1],
  ] as const)('delivers at most what was debited: %s', (_, request, most) => {
    expect(maxOutputs(request)).toBe(most);
  });

  test.each([
    ['no image', anImageRequest({ images: 3 }), 0, 0],
    ['two of three images', anImageRequest({ images: 3 }), 2, 8_000],
    ['no video', aVideoRequest(), 0, 0],
    ['a video', aVideoRequest({ durationSec: 5 }), 1, 50_000],
    ['a video with 7 billed seconds', aVideoRequest({ durationSec: 5, billedSeconds: 7 }), 1, 70_000],
  ] as const)('costs its price: %s', (_, request, delivered, cost) => {
    expect(costOf(request, delivered)).toBe(cost);
  });
});

describe('marking a request as expired', () => {
  const expire = (seconds = 0) => markExpired(REQUEST_ID, atSeconds(seconds));

  test('notes when its files were removed, once', async () => {
    given({ status: 'succeeded' });

    expect(await expire()).toBe(true);
    expect(await expire(60)).toBe(true);

    expect(stored()).toMatchObject({ status: 'succeeded', expiredAt: NOW.toISOString() });
  });

  test.each(['queued', 'processing', 'failed'] as const)('leaves one that is %s alone', async (status) => {
    given({ status });

    expect(await expire()).toBe(false);
    expect(stored()).not.toHaveProperty('expiredAt');
  });

  test('makes no request of one that is gone', async () => {
    expect(await expire()).toBe(false);
    expect(stored()).toBeUndefined();
  });
});

describe('the open work', () => {
  test.each(['queued', 'processing'] as const)('has a request that is %s, by its age', async (status) => {
    given({ status });

    expect(stored()).toMatchObject(openWorkListing(REQUEST_ID, NOW.toISOString()));
  });

  test('is left by a request whose work is closed, which changes nothing else', async () => {
    given({ status: 'processing' });
    const { GSI1PK: _, GSI1SK: __, ...rest } = stored() ?? {};

    expect(await closeWork(REQUEST_ID)).toBe(true);
    expect(stored()).toEqual(rest);
    expect(await closeWork(REQUEST_ID)).toBe(false);
  });

  test('is not entered by a request that is gone', async () => {
    expect(await closeWork(REQUEST_ID)).toBe(false);
    expect(stored()).toBeUndefined();
  });

  test('lies spread over all of its partitions', () => {
    const partitions = Array.from(
      { length: 1000 },
      () => openWorkListing(newRequestId('image', NOW), NOW.toISOString()).GSI1PK,
    );

    expect([...new Set(partitions)].sort()).toEqual(
      Array.from({ length: OPEN_WORK_SHARDS }, (_, shard) => openWorkPartition(shard)),
    );
  });
});
