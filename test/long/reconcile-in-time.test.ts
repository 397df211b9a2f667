import { armFault, type Fault, faultsLeft } from '@generation-service/local-aws/faults';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { itemsNaming } from '../contract/support/aws.ts';
import { type AnyRecord, accepted, eventually, read, settled, unique } from '../contract/support/client.ts';
import { entriesOf, expectUnbrokenChain, refundedInFull } from '../contract/support/ledger.ts';
import { ops } from '../contract/support/local-service.ts';
import {
  endUserPath,
  failed,
  processing,
  remove,
  succeeded,
  uniqueEmail,
} from '../contract/support/resources.ts';
import {
  currentState,
  executionStatus,
  executionsNamed,
  stopExecution,
} from '../contract/support/stopping.ts';
import { type StoredRequest, storedKeys, storedRequests } from '../contract/support/stored.ts';
import { finishedVideo } from '../contract/support/videos.ts';
import { useOwnRun } from './own-run.ts';

const OUTPUT_TTL_SECONDS = 10;
/** Less than the age at which the schedule picks up a request: anything sooner was triggered by an event. */
const SOON_SECONDS = 25;

const { service, caller } = useOwnRun({
  context: { outputTtlSeconds: OUTPUT_TTL_SECONDS, pollIntervalSeconds: 1, reconcileIntervalSeconds: 2 },
});
/** A request whose execution could not be started at creation; reconciled 60 s later. */
let unstarted: AnyRecord;
/** The id of a deleted request whose file could not be removed; also reconciled 60 s later. */
let deleted: string;
/** Found work is due 60 s later. */
const DUE_WITHIN_SECONDS = 100;
/** The address of an end-user who was removed. */
let removedEmail: string;
beforeAll(async () => {
  // Outlasts the SDK's attempts.
  await arm({ call: 'states:StartExecution', principal: '*CreateGeneration*', effect: 'throttle', times: 4 });
  unstarted = await accepted(caller, { size: '512x512' });
  expect(await executionStatus(service, 'generation', unstarted.requestId)).toBeUndefined();
  deleted = await deletedWithFileLeft();
  removedEmail = uniqueEmail();
  await failed(caller, { endUserEmail: removedEmail });
  expect((await remove(caller, endUserPath(removedEmail))).body).toMatchObject({ removedRequests: 1 });
}, 120_000);

let faults = 0;
/** Arms a fault. Returns a function that reads whether it has hit as many calls as it was meant to. */
const arm = async (fault: Fault): Promise<() => Promise<boolean>> => {
  await armFault(service, fault);
  const place = faults;
  faults += 1;
  return async () => (await faultsLeft(service))[place] === 0;
};

const stored = async (requestId: string): Promise<StoredRequest> => {
  const request = (await storedRequests(service)).find((each) => each.requestId === requestId);
  if (!request) throw new Error(`There is no request ${requestId}.`);
  return request;
};
const filesOf = (requestId: string): Promise<string[]> => storedKeys(service, requestId);
const noneLeft = (requestId: string): Promise<string[]> =>
  eventually(
    () => filesOf(requestId),
    (files) => files.length === 0,
    DUE_WITHIN_SECONDS,
  );

const deletedWithFileLeft = async (): Promise<string> => {
  const { requestId } = await succeeded(caller);
  await arm({ call: 's3:*', principal: '*DeleteGeneration*', effect: 'throttle', times: 100 });
  const answer = await remove(caller, `/v1/generations/${requestId}`);
  expect(answer.body).toEqual({ requestId, deleted: true, removedObjects: 0 });
  expect(await filesOf(requestId)).toHaveLength(1);
  return requestId;
};
/** A request for two images that takes seconds: time to arm a fault that names it. */
const twoImages = (): Promise<AnyRecord> =>
  accepted(caller, { model: 'xQI3Pro', size: '512x512', n: 2, prompt: unique('[delay=3]') });
/** A request for two images: the first is stored, the upload of the second is delayed. Returns its id. */
const storingRequest = async (delayMilliseconds: number): Promise<string> => {
  const { requestId } = await twoImages();
  const second = { call: 's3:PutObject', contains: `${requestId}/1`, delayMilliseconds };
  // Hits every attempt: the client gives up on each before the delay ends.
  await arm({ ...second, principal: '*StoreOutputs*', times: 10 });
  await eventually(
    () => filesOf(requestId),
    (files) => files.length === 1,
  );
  return requestId;
};
/** Expects that a request was paid once and refunded in full once. */
const expectRefunded = async (requestId: string): Promise<void> => {
  const entries = await entriesOf(caller, requestId);
  const [[, price] = []] = entries;
  expect(price).toBeGreaterThan(0);
  expect(entries).toEqual(refundedInFull(price ?? 0));
};

const LOST = {
  status: 'failed',
  error: { code: 'internal_error', message: 'The work on this request was lost on our side.' },
};
const hasEnded = ({ status }: { status: string }): boolean => status !== 'queued' && status !== 'processing';

describe('An execution that is stopped in the console', () => {
  test('fails its image as lost and refunds it, without waiting for the schedule', async () => {
    const { requestId } = await processing(caller, 20);

    await stopExecution(service, 'generation', requestId);

    const record = await eventually(() => read(caller, requestId), hasEnded, SOON_SECONDS);
    expect(record).toMatchObject(LOST);
    await expectRefunded(requestId);
    expect(await executionStatus(service, 'generation', requestId)).toBe('ABORTED');
  });

  test('does not lose a request whose outputs are stored: it succeeds and is paid once', async () => {
    const endUserEmail = uniqueEmail();
    // The settlement under way arrives too late.
    await arm({
      ...{ call: 'dynamodb:TransactWriteItems', principal: '*SettleRequest*', contains: endUserEmail },
      ...{ delayMilliseconds: 5_000, times: 4 },
    });
    const { requestId } = await accepted(caller, { size: '512x512', endUserEmail });
    await eventually(
      () => currentState(service, 'generation', requestId),
      (state) => state === 'Settle request',
    );

    await stopExecution(service, 'generation', requestId);

    const record = await eventually(() => read(caller, requestId), hasEnded, SOON_SECONDS);
    expect(record).toMatchObject({ status: 'succeeded', cost: 1, images: [{ size: '512x512' }] });
    expect(await executionStatus(service, 'generation', requestId)).toBe('ABORTED');
    expect(await entriesOf(caller, requestId)).toEqual([['generation', 1]]);
  });

  test('fails a request that is storing its files as lost, and leaves no file', async () => {
    const requestId = await storingRequest(300_000);

    await stopExecution(service, 'generation', requestId);

    expect(await eventually(() => read(caller, requestId), hasEnded, SOON_SECONDS)).toMatchObject(LOST);
    await noneLeft(requestId);
    await expectRefunded(requestId);
  });

  test('leaves no file, even one stored after the request was lost', async () => {
    // Only 1 ms: the fault just shows that the call was made.
    const removed = await arm({
      call: 's3:DeleteObjects',
      principal: '*StoreOutputs*',
      delayMilliseconds: 1,
    });
    // Less than the silence for which the client gives up, and time to lose the request before.
    const requestId = await storingRequest(4_500);

    await stopExecution(service, 'generation', requestId);

    expect(await eventually(() => read(caller, requestId), hasEnded, SOON_SECONDS)).toMatchObject(LOST);
    await eventually(removed, (done) => done);
    await noneLeft(requestId);
    await expectRefunded(requestId);
  });
});

test("A passing fault that outlasts the SDK's attempts costs a request no file", async () => {
  const { requestId } = await twoImages();
  const failing = { call: 'dynamodb:UpdateItem', contains: requestId, effect: 'error', times: 4 } as const;
  const unrecorded = await arm({ ...failing, principal: '*StoreOutputs*' });

  const { status, images = [] } = await settled(caller, requestId);

  expect(await unrecorded()).toBe(true);
  expect(status).toBe('succeeded');
  expect(images.map(({ url }) => typeof url)).toEqual(['string', 'string']);
});

describe('When files expire', () => {
  const KINDS = ['an image', 'a video'] as const;
  type Kind = (typeof KINDS)[number];
  const made = new Map<Kind, { requestId: string; files: string[] }>();
  let refused: () => Promise<boolean>;
  beforeAll(async () => {
    const make = async (kind: Kind, { requestId }: { requestId: string }) => {
      made.set(kind, { requestId, files: await filesOf(requestId) });
    };
    const image = async () => make('an image', await succeeded(caller));
    const video = async () => make('a video', await finishedVideo(caller, { model: 'xW3.0s' }));
    // Outlasts the SDK's attempts for whatever expires first.
    const fault = { call: 's3:DeleteObjects', principal: '*ExpireRequests*' };
    refused = await arm({ ...fault, effect: 'throttle', times: 3 });
    await Promise.all([image(), video()]);
  });
  const requestOf = (kind: Kind): string => made.get(kind)?.requestId ?? '';

  test.each(KINDS)('they are removed, and the record is marked: %s', async (kind) => {
    const requestId = requestOf(kind);
    expect(made.get(kind)?.files).toHaveLength(1);

    const {
      status,
      expiresAt = '',
      expiredAt = '',
    } = await eventually(
      () => stored(requestId),
      (request) => request.expiredAt !== undefined,
      DUE_WITHIN_SECONDS,
    );

    expect(await filesOf(requestId)).toEqual([]);
    expect(status).toBe('succeeded');
    expect(expiredAt >= expiresAt).toBe(true);
  });

  test('executions that end do it, none of which is of one request or fails, though files could not be removed at first', async () => {
    expect(await refused()).toBe(true);

    const executions = await eventually(
      () => executionsNamed(service, 'expiry', '2'),
      (found) => found.every(({ status }) => status !== 'RUNNING'),
    );

    expect(executions.length).toBeGreaterThan(0);
    expect(new Set(executions.map(({ status }) => status))).toEqual(new Set(['SUCCEEDED']));
    expect(await executionsNamed(service, 'expiry', 'img_')).toEqual([]);
  });
});

describe('A request whose execution could not be started', () => {
  test('is started later, succeeds and is paid once', async () => {
    const { requestId } = unstarted;
    await eventually(
      () => executionStatus(service, 'generation', requestId),
      (status) => status === 'SUCCEEDED',
      DUE_WITHIN_SECONDS,
    );

    // Its file may have expired already.
    expect(['succeeded', 'expired']).toContain((await read(caller, requestId)).status);
    expect(await entriesOf(caller, requestId)).toEqual([['generation', 1]]);
  });
});

test('A file that could not be removed with its request is removed later', async () => {
  await noneLeft(deleted);
});

/** Whether an open item is the removal of the end-user, listed for its pass after 15 min. */
const isListedForLaterPass = (item: string): boolean => {
  const { GSI1SK } = JSON.parse(item) as { GSI1SK: string };
  return item.includes(removedEmail) && Date.parse(GSI1SK) > Date.now() + 300_000;
};

test('After all losses the ledger is right and only the later passes over a removal are left', async () => {
  await eventually(
    () => itemsNaming(service, 'DUE#'),
    (items) => items.length === 1 && items.every(isListedForLaterPass),
    DUE_WITHIN_SECONDS,
  );

  expect(await itemsNaming(service, removedEmail)).toHaveLength(1);

  expect(await ops(service, 'ledger', 'verify')).toMatchObject({ accounts: 1, problems: [] });
  await expectUnbrokenChain(caller);
});
