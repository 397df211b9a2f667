import '../unit/builders/environment.ts';
import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { expireRequest } from '../../core/deletion/expire-request.ts';
import { requestKey } from '../../core/table/keys.ts';
import { table } from '../../core/table/table.ts';
import { StackContext } from '../../lib/context.ts';
import { atSeconds } from '../unit/builders/clocks.ts';
import { anImageRequest, aStoredOutput, putRequest, REQUEST_ID } from '../unit/builders/entities.ts';
import { MemoryBucket } from '../unit/fakes/memory-bucket.ts';
import { MemoryTable } from '../unit/fakes/memory-table.ts';
import { definitionText, LAMBDA_TRANSIENT_ERRORS, readDefinition } from './asl.ts';
import {
  answers,
  type Behaviour,
  type Execution,
  fails,
  hangs,
  runWorkflow,
  type Script,
} from './harness.ts';

const memory = new MemoryTable(table);
const bucket = new MemoryBucket();
const TTL_SECONDS = 82_800;
const expiresAt = atSeconds(TTL_SECONDS).toISOString();
const [FILE = ''] = [aStoredOutput(0).objectKey];

const done = answers(undefined);
const run = (script: Script, input = { requestId: REQUEST_ID, expiresAt }): Promise<Execution> =>
  runWorkflow(definitionText('expiry.asl.json'), input, script);
/** The deployed code of "Expire request", on the table and the bucket in memory. */
const expire: Behaviour = () => expireRequest(REQUEST_ID);
const times = (count: number, behaviour: Behaviour): Behaviour[] => Array<Behaviour>(count).fill(behaviour);
const record = () => memory.get(requestKey(REQUEST_ID));
const secondsOf = ({ retries }: Execution): number[] => retries.map(({ seconds }) => seconds);

beforeEach(() => {
  memory.reset();
  bucket.reset();
  bucket.put(FILE);
  putRequest(memory, anImageRequest({ status: 'succeeded', outputs: [aStoredOutput(0)], expiresAt }));
});

describe('the expiry of a request', () => {
  test('waits until the exact instant, then removes its files: two transitions, however long it takes', async () => {
    const execution = await run({ 'expire-request': [expire] });

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.path).toEqual(['Wait until expiry', 'Expire request']);
    expect(execution.transitions).toBe(2);
    expect(execution.visits[0]?.seconds).toBe(TTL_SECONDS);
    expect(bucket.objects.size).toBe(0);
    expect(record()).toMatchObject({ status: 'succeeded', expiredAt: expiresAt });
  });

  test('passes its function the id alone', async () => {
    const execution = await run({ 'expire-request': [done] });

    expect(execution.invocations).toEqual([
      { functionName: 'expire-request', payload: { requestId: REQUEST_ID } },
    ]);
  });

  test.each([
    ['in fractions of a second', atSeconds(0.5).toISOString(), 0.5],
    ['that is past', atSeconds(-3_600).toISOString(), 0],
    ['that is now', atSeconds(0).toISOString(), 0],
  ])('accepts an instant %s', async (_, instant, seconds) => {
    const execution = await run({ 'expire-request': [done] }, { requestId: REQUEST_ID, expiresAt: instant });

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.seconds).toBe(seconds);
  });

  test('does nothing for a request that has been deleted', async () => {
    memory.remove(requestKey(REQUEST_ID));

    const execution = await run({ 'expire-request': [expire] });

    expect(execution.status).toBe('SUCCEEDED');
    expect(record()).toBeUndefined();
  });

  test('retries within seconds when its function’s clock is behind', async () => {
    const early = fails('NotExpiredYetError');

    const execution = await run({ 'expire-request': [...times(3, early), done] });

    expect(execution.status).toBe('SUCCEEDED');
    expect(secondsOf(execution)).toEqual([1, 2, 4]);
  });

  test('retries with growing delays while files remain, and succeeds once they are gone', async () => {
    bucket.client
      .on(DeleteObjectsCommand)
      .resolvesOnce({ Errors: [{ Key: FILE, Code: 'InternalError' }] })
      .rejectsOnce(new Error('no bucket'))
      .resolves({});

    const execution = await run({ 'expire-request': expire });

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.retries).toEqual([
      { state: 'Expire request', error: 'FilesRemainError', seconds: 60 },
      { state: 'Expire request', error: 'FilesRemainError', seconds: 120 },
    ]);
    expect(record()).toMatchObject({ expiredAt: atSeconds(TTL_SECONDS + 180).toISOString() });
  });

  test('fails, for operators to see, when files remain for hours', async () => {
    bucket.client.on(DeleteObjectsCommand).rejects(new Error('no bucket'));

    const execution = await run({ 'expire-request': expire });

    expect(secondsOf(execution)).toEqual([60, 120, 240, 480, 960, 1_920, ...Array(6).fill(3_600)]);
    expect(execution.status).toBe('FAILED');
    expect(execution.failure).toEqual({
      Error: 'FilesRemainError',
      Cause: expect.stringContaining(`Files of ${REQUEST_ID} remain.`),
    });
    expect(record()?.expiredAt).toBeUndefined();
  });

  test.each(LAMBDA_TRANSIENT_ERRORS)('is retried after a transient error of Lambda: %s', async (error) => {
    const execution = await run({ 'expire-request': [fails(error), expire] });

    expect(execution.status).toBe('SUCCEEDED');
    expect(secondsOf(execution)).toEqual([2]);
    expect(bucket.objects.size).toBe(0);
  });

  test.each(['TypeError', 'AccessDeniedException'])('fails at once on %s', async (error) => {
    const execution = await run({ 'expire-request': [fails(error)] });

    expect(execution.status).toBe('FAILED');
    expect(execution.retries).toEqual([]);
  });

  test('fails when its function never answers', async () => {
    const execution = await run({ 'expire-request': [hangs] });

    expect(execution.status).toBe('FAILED');
    expect(execution.failure?.Error).toBe('States.Timeout');
    expect(execution.seconds).toBe(TTL_SECONDS + 60);
  });

  test('allows for the longest lifetime of files and every retry after it', () => {
    const { TimeoutSeconds = 0, States } = readDefinition('expiry.asl.json');
    const { Retry = [], TimeoutSeconds: taskSeconds = 0 } = States['Expire request'] ?? {};
    const longestTtl = 30 * 86_400;
    expect(() => StackContext.shape.outputTtlSeconds.parse(longestTtl + 1)).toThrow();

    const longestRetries = Retry.flatMap(({ MaxAttempts = 0, MaxDelaySeconds = 3_600 }) => [
      MaxAttempts * (MaxDelaySeconds + taskSeconds),
    ]).reduce((sum, seconds) => sum + seconds, 0);

    expect(TimeoutSeconds).toBeGreaterThan(longestTtl + longestRetries);
  });
});
