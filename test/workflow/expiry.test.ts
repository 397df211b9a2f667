import { describe, expect, test } from '@jest/globals';
import { expireRequests } from '../../core/deletion/expire-requests.ts';
import {
  type ExpiredPage,
  type ExpiryCursor,
  FIRST_PAGE,
  listExpiredRequests,
} from '../../core/deletion/list-expired-requests.ts';
import { outputObjectKey } from '../../core/object-keys.ts';
import { dueListing, requestKey } from '../../core/table/keys.ts';
import { atSeconds } from '../unit/builders/clocks.ts';
import { anImageRequest, putRequest } from '../unit/builders/entities.ts';
import { aRequestId } from '../unit/builders/request-ids.ts';
import { bucket } from '../unit/fakes/fresh-bucket.ts';
import { memory } from '../unit/fakes/fresh-table.ts';
import { definitionText, readDefinition } from './asl.ts';
import {
  answers,
  type Behaviour,
  type Execution,
  fails,
  hangs,
  runWorkflow,
  type Script,
} from './harness.ts';

const LIST = 'List expired requests';
const EXPIRE = 'Expire requests';

const run = (script: Script): Promise<Execution> =>
  runWorkflow(definitionText('expiry.asl.json'), { cursor: FIRST_PAGE } as never, script);
/** The deployed code of both tasks, on the table and the bucket in memory. */
const list: Behaviour = (input) => listExpiredRequests((input as unknown as { cursor: ExpiryCursor }).cursor);
const expire: Behaviour = (input) => expireRequests((input as { requestIds: string[] }).requestIds);
const service: Script = { 'list-expired-requests': list, 'expire-requests': expire };

/** Answers with a page of this many batches. */
const page = (batches: number, next: ExpiredPage['next'] = 'stop', pages = 1): Behaviour =>
  answers({
    batches: Array.from({ length: batches }, (_, index) => ({ requestIds: [`img_${pages}_${index}`] })),
    cursor: { pages, position: [] },
    next,
  });
const done = answers(undefined);
const secondsOf = ({ retries }: Execution): number[] => retries.map(({ seconds }) => seconds);
const batchesOf = ({ invocations }: Execution): unknown[] =>
  invocations.filter(({ functionName }) => functionName === 'expire-requests').map(({ payload }) => payload);

/** Puts this many requests with a file each that expired in the last minute; returns their ids. */
const given = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => {
    const expiresAt = atSeconds(-60 + (50 * index) / count).toISOString();
    const requestId = aRequestId(atSeconds(-90_000 + index));
    const objectKey = outputObjectKey(requestId, 0, 'png');
    const outputs = [{ index: 0, objectKey }];
    putRequest(memory, anImageRequest({ requestId, status: 'succeeded', outputs, expiresAt }));
    memory.patch(requestKey(requestId), dueListing('EXPIRE', requestId, expiresAt));
    bucket.put(objectKey);
    return requestId;
  });
const expired = (ids: readonly string[]): number =>
  ids.filter((id) => memory.get(requestKey(id))?.expiredAt !== undefined).length;

describe('an execution of the expiry', () => {
  test.each([
    [1, 5],
    [100, 5],
    [800, 12],
  ])('of %i requests takes %i transitions: one a batch of 100, and four', async (count, transitions) => {
    given(count);

    expect((await run(service)).transitions).toBe(transitions);
  });

  test('goes on from page to page until there is none', async () => {
    const ids = given(5_000);

    const execution = await run(service);

    const times = (name: string) => execution.path.filter((state) => state === name).length;
    // A page has 1,000 requests of each of four partitions.
    expect(times(LIST)).toBe(2);
    expect(expired(ids)).toBe(5_000);
    expect(bucket.objects.size).toBe(0);
    expect(execution.transitions).toBe(2 * 3 + times(EXPIRE) + 1);
  });

  test('passes on the cursor and, to each batch, its ids alone', async () => {
    const execution = await run({
      'list-expired-requests': [page(1, 'list', 1), page(2, 'stop', 2)],
      'expire-requests': done,
    });

    expect(execution.invocations).toEqual([
      {
        functionName: 'list-expired-requests',
        payload: { cursor: { pages: 0 }, knownSteps: expect.any(Array) },
      },
      { functionName: 'expire-requests', payload: { requestIds: ['img_1_0'] } },
      {
        functionName: 'list-expired-requests',
        payload: { cursor: { pages: 1, position: [] }, knownSteps: expect.any(Array) },
      },
      { functionName: 'expire-requests', payload: { requestIds: ['img_2_0'] } },
      { functionName: 'expire-requests', payload: { requestIds: ['img_2_1'] } },
    ]);
  });

  test('handles ten batches at once', async () => {
    let atOnce = 0;
    let most = 0;
    const slow: Behaviour = async () => {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      atOnce--;
    };

    const execution = await run({ 'list-expired-requests': [page(40)], 'expire-requests': slow });

    expect(most).toBe(10);
    expect(execution.seconds).toBe(4);
    expect(batchesOf(execution)).toHaveLength(40);
  });
});

describe('a batch', () => {
  test.each(['TypeError', 'AccessDeniedException'])(
    'that fails by %s is left, and holds up no other batch or page',
    async (error) => {
      const execution = await run({
        'list-expired-requests': [page(3, 'list'), page(1, 'stop', 2)],
        'expire-requests': [fails(error), done, done, done],
      });

      expect(execution.status).toBe('SUCCEEDED');
      expect(execution.retries).toEqual([]);
      expect(execution.path.filter((state) => state === 'Leave batch')).toHaveLength(1);
      expect(batchesOf(execution)).toHaveLength(4);
    },
  );

  test('that never succeeds is left after its retries', async () => {
    const ids = given(1);

    const execution = await run({
      'list-expired-requests': list,
      'expire-requests': fails('TransientError'),
    });

    expect(execution.status).toBe('SUCCEEDED');
    expect(secondsOf(execution)).toEqual([2, 4, 8, 16, 30, 30]);
    expect(expired(ids)).toBe(0);
    expect(memory.get(requestKey(ids[0] ?? ''))?.GSI1PK).toMatch(/^DUE#EXPIRE#/);
  });

  test('whose function never answers is left when the task times out', async () => {
    const execution = await run({ 'list-expired-requests': [page(1)], 'expire-requests': [hangs] });

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.path).toContain('Leave batch');
    expect(execution.seconds).toBe(75);
  });
});

describe('the listing', () => {
  test.each(['TypeError', 'AccessDeniedException'])('fails the execution by %s', async (error) => {
    const execution = await run({ 'list-expired-requests': [fails(error)] });

    expect(execution.status).toBe('FAILED');
    expect(execution.failure?.Error).toBe(error);
    expect(execution.retries).toEqual([]);
  });

  test('fails the execution when its function never answers', async () => {
    const execution = await run({ 'list-expired-requests': [hangs] });

    expect(execution.status).toBe('FAILED');
    expect(execution.failure?.Error).toBe('States.Timeout');
  });
});

describe('an execution that stopped', () => {
  test('is taken up by another where it stopped', async () => {
    const ids = given(300);
    const stopped = await run({
      'list-expired-requests': [list],
      'expire-requests': [expire, fails('TypeError'), hangs],
    });
    expect(stopped.status).toBe('SUCCEEDED');
    expect(expired(ids)).toBe(100);

    await run(service);

    expect(expired(ids)).toBe(300);
  });
});

test('the limits of an execution hold 25 full pages: its history, and its time when each batch takes seconds', () => {
  const { TimeoutSeconds = 0, States } = readDefinition('expiry.asl.json');
  const { MaxConcurrency = 0 } = States['Expire each batch'] ?? {};
  const [pages, batches, eventsOfBatch, eventsOfPage] = [25, 40, 8, 12];

  expect(pages * (batches * eventsOfBatch + eventsOfPage)).toBeLessThan(25_000 / 2);
  expect(TimeoutSeconds).toBeGreaterThan(pages * (batches / MaxConcurrency) * 30);
});
