import '../builders/environment.ts';
import { DeleteCommand, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { NotFoundError } from '../../../core/errors.ts';
import { requestKey } from '../../../core/keys.ts';
import {
  findRequest,
  getRequest,
  type ImageRequest,
  isTerminal,
  markProcessing,
  recordOutputs,
  removeRequest,
  toImageRequest,
} from '../../../core/requests.ts';
import { table } from '../../../core/table.ts';
import {
  ACCOUNT_ID,
  anImageRequest,
  aStoredOutput,
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

    expect(await findRequest(REQUEST_ID)).toStrictEqual(
      anImageRequest({ references: ['https://images.example.com/0.png'] }),
    );
    expect(memory.client.commandCalls(GetCommand)[0]?.args[0].input).toStrictEqual({
      TableName: 'table',
      Key: { PK: `REQUEST#${REQUEST_ID}`, SK: 'REQUEST' },
      ConsistentRead: true,
    });
  });

  test('that does not exist is not found', async () => {
    expect(await findRequest(REQUEST_ID)).toBeUndefined();
    await expect(getRequest(REQUEST_ID)).rejects.toThrow(NotFoundError);
  });

  test('that is stored malformed is refused, not guessed', () => {
    expect(() => toImageRequest({ ...anImageRequest(), status: 'expired' })).toThrow();
    expect(() => toImageRequest({ ...anImageRequest(), debitThousandths: undefined })).toThrow();
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
    await recordOutputs(REQUEST_ID, outputs);

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

  test.each(['succeeded', 'failed'] as const)('leaves one that is %s alone', async (status) => {
    given({ status });
    await recordOutputs(REQUEST_ID, outputs);

    expect(stored()).not.toHaveProperty('outputs');
  });

  test('lets errors of the table through', async () => {
    memory.client.on(UpdateCommand).rejects(new Error('no table'));

    await expect(recordOutputs(REQUEST_ID, outputs)).rejects.toThrow('no table');
    await expect(markProcessing(anImageRequest())).rejects.toThrow('no table');
  });
});

describe('removing a request', () => {
  test.each(['succeeded', 'failed'] as const)('that %s is one conditional deletion', async (status) => {
    given({ status });

    expect(await removeRequest(REQUEST_ID)).toBe(true);
    expect(stored()).toBeUndefined();
    expect(memory.client.commandCalls(DeleteCommand)[0]?.args[0].input).toStrictEqual({
      TableName: 'table',
      Key: { PK: `REQUEST#${REQUEST_ID}`, SK: 'REQUEST' },
      ConditionExpression: '#status IN (:succeeded, :failed)',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':succeeded': 'succeeded', ':failed': 'failed' },
    });
  });

  test.each(['queued', 'processing'] as const)('that is %s leaves it alone', async (status) => {
    given({ status });

    expect(await removeRequest(REQUEST_ID)).toBe(false);
    expect(stored()).toMatchObject({ status });
  });

  test('by everyone at once is done by one', async () => {
    given({ status: 'failed' });

    const removals = await Promise.all(Array.from({ length: 5 }, () => removeRequest(REQUEST_ID)));

    expect(removals.filter(Boolean)).toHaveLength(1);
    expect(await removeRequest(REQUEST_ID)).toBe(false);
  });

  test('lets errors of the table through', async () => {
    memory.client.on(DeleteCommand).rejects(new Error('no table'));

    await expect(removeRequest(REQUEST_ID)).rejects.toThrow('no table');
  });
});
