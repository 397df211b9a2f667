import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Caller, newCaller, sharedService, unique } from '../contract/support/client.ts';
import { endedExecution } from '../contract/support/executions.ts';
import { entriesOf, expectUnbrokenChain } from '../contract/support/ledger.ts';
import { endUserOf, remove, uniqueEmail } from '../contract/support/resources.ts';
import {
  acceptedVideo,
  anUnfilmedVideo,
  createVideo,
  settledVideo,
  upstreamTask,
  type VideoRecord,
} from '../contract/support/videos.ts';

const FAILURES = [
  // Without a delay ModelArk refuses at once; with one the task fails and it calls back.
  ['xW3.0sPro', '[fail=content_policy]', 'content_policy'],
  ['xW3.0sPro', '[delay=0.3][fail=provider_error]', 'provider_error'],
  ['xW3.0sPro', '[empty]', 'provider_error'],
  ['xW3.0sPro', '[forget]', 'provider_error'],
  ['xW3.0sPro', '[broken=all]', 'internal_error'],
  ['xW3.0s', '[delay=0][fail=content_policy]', 'content_policy'],
  ['xW3.0s', '[delay=0][empty]', 'provider_error'],
  ['xW3.0s', '[forget]', 'provider_error'],
  ['xW2.7S', '[delay=0][fail=provider_error]', 'provider_error'],
  ['xW2.7S', '[delay=0][broken=0]', 'internal_error'],
] as const;

let caller: Caller;
const requests = new Map<string, VideoRecord>();
beforeAll(async () => {
  caller = await newCaller(await sharedService());
  const create = async (model: string, directives: string) => {
    const prompt = unique(directives);
    const record = await acceptedVideo(caller, { model, prompt, endUserEmail: uniqueEmail() });
    requests.set(model + directives, record);
  };
  const waiting = create('xW3.0sPro', WAITS_THEN_SUCCEEDS);
  await Promise.all([...FAILURES.map(([model, directives]) => create(model, directives)), waiting]);
});

/** Requests created after the failures. */
const later: string[] = [];

/** The task is in a state unknown to the adapter until it is done. */
const WAITS_THEN_SUCCEEDS = '[delay=1][status=DREAMING]';

const requestOf = (model: string, directives: string): VideoRecord => {
  const found = requests.get(model + directives);
  if (!found) throw new Error(`${model} ${directives} was not started`);
  return found;
};

describe('A video that fails is refunded in full and pauses no one', () => {
  test.each(FAILURES)('with %s and %s: %s', async (model, directives, code) => {
    const { requestId, endUserEmail = '' } = requestOf(model, directives);

    const { status, error, videos } = await settledVideo(caller, requestId);

    expect([status, error?.code, videos]).toEqual(['failed', code, undefined]);
    const entries = await entriesOf(caller, requestId);
    const [, debit] = entries.at(-1) ?? [];
    expect(debit).toBeGreaterThan(0);
    expect(entries).toEqual([
      ['refund', debit],
      ['generation', debit],
    ]);
    expect(await endUserOf(caller, endUserEmail)).toMatchObject({ totalRequests: 1, totalXTokensSpent: 0 });
    expect((await endedExecution(caller.service, requestId)).status).toBe('SUCCEEDED');
  });

  test('and its end-user can create with the same model again', async () => {
    for (const [model, directives] of FAILURES.filter(([, , code]) => code === 'provider_error')) {
      const { requestId, endUserEmail } = requestOf(model, directives);
      await settledVideo(caller, requestId);

      const { status, body } = await createVideo(caller, anUnfilmedVideo({ model, endUserEmail }));

      expect(status).toBe(202);
      later.push(body.requestId);
    }
  });

  test('and has no file to remove when it is deleted', async () => {
    for (const directives of ['[broken=all]', '[empty]']) {
      const { requestId } = requestOf('xW3.0sPro', directives);

      const answer = await remove(caller, `/v1/generations/${requestId}`);

      expect(answer.body).toEqual({ requestId, deleted: true, removedObjects: 0 });
    }
  });
});

test('A task in an unknown state is waited for until it is done', async () => {
  const request = requestOf('xW3.0sPro', WAITS_THEN_SUCCEEDS);

  const { status, cost } = await settledVideo(caller, request.requestId);

  expect([status, cost]).toEqual(['succeeded', 24]);
  expect(await entriesOf(caller, request.requestId)).toEqual([['generation', 24]]);
  const { callbacks } = await upstreamTask(caller, request, (task) => task.callbacks.length >= 3);
  expect(new Set(callbacks.map((callback) => callback.status))).toEqual(new Set(['DREAMING', 'succeeded']));
});

test('The ledger is unbroken after all tests', async () => {
  await Promise.all(later.map((requestId) => settledVideo(caller, requestId)));

  await expectUnbrokenChain(caller);
});
