import { InvokeCommand } from '@aws-sdk/client-lambda';
import { SendTaskSuccessCommand } from '@aws-sdk/client-sfn';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from '@jest/globals';
import { awaitCapacity } from '../../../../core/admission/await-capacity.ts';
import { putQueueEntry } from '../../../../core/admission/queue-entries.ts';
import { nameReconciler } from '../../../../core/executions/reconciler-run.ts';
import { dueListing, queueEntryKey, requestKey, routeLimitKey } from '../../../../core/table/keys.ts';
import { at, NOW, StoppedClock } from '../../builders/clocks.ts';
import { anImageRequest, putRequest, REQUEST_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { MemoryFunctions } from '../../fakes/memory-functions.ts';

const functions = new MemoryFunctions();
const ASSIGNED = { route: 'modelstudio/qwen-image', number: 1 };
const request = anImageRequest({ assignment: ASSIGNED });
beforeEach(async () => {
  functions.reset();
  functions.client.on(InvokeCommand).resolves({});
  putRequest(memory, request);
  await nameReconciler('reconcile');
});

const ROUTE_NAME = 'modelstudio/qwen-image';
const upstream = { provider: 'modelstudio', upstreamModel: 'qwen-image' };
const LIMITED = { MODEL_ROUTES: JSON.stringify({ xQI3Pro: { ...upstream, maxRunning: 1 } }) };
const awaitIt = (token = 'token-1', retries = 0) => {
  executions.wait(token);
  const position = { route: ROUTE_NAME, weight: 1, starts: 1, timeoutSeconds: 3_600 };
  const entry = { enteredAt: NOW.toISOString(), retries };
  return awaitCapacity({ requestId: REQUEST_ID, taskToken: token, ...entry }, position, new StoppedClock());
};
const entry = () => memory.get(queueEntryKey(ROUTE_NAME, request));
const woken = () => executions.woken.map(({ taskToken }) => taskToken);
const starts = () => functions.client.commandCalls(InvokeCommand).length;
const position = () => {
  const { GSI1PK, GSI1SK } = memory.get(requestKey(REQUEST_ID)) ?? {};
  return { GSI1PK, GSI1SK };
};
const placeAt = (list: 'START' | 'CHECK', seconds: number) => dueListing(list, REQUEST_ID, at(seconds));

test('a request that waits is checked half a minute after its time in the queue, and starts the reconciler', () =>
  withEnvironment(LIMITED, async () => {
    await awaitIt();

    expect(entry()).toMatchObject({ taskToken: 'token-1', weight: 1, starts: 1 });
    expect(memory.get(routeLimitKey(ROUTE_NAME))).toHaveProperty('queued');
    expect(position()).toEqual(placeAt('CHECK', 3_630));
    expect([woken(), starts()]).toEqual([[], 1]);
  }));

test('a request that waits again after its first call is due as before', () =>
  withEnvironment(LIMITED, async () => {
    memory.patch(requestKey(REQUEST_ID), { status: 'processing' });
    await awaitIt();

    expect(memory.get(requestKey(REQUEST_ID))).toMatchObject({ status: 'processing' });
    expect(position()).toEqual(placeAt('START', 45));
  }));

test('a request whose wait dies before the queue knows of it is checked as soon as before: nothing else finds it', () =>
  withEnvironment(LIMITED, async () => {
    memory.client.on(PutCommand).rejects(new Error('died'));

    await expect(awaitIt()).rejects.toThrow('died');
    expect(position()).toEqual(placeAt('START', 45));
  }));

test('a request whose wait dies behind its position in the queue is queued by the next try of the same invocation', () =>
  withEnvironment(LIMITED, async () => {
    memory.client.on(UpdateCommand).rejects(new Error('died'));
    await expect(awaitIt()).rejects.toThrow('died');
    expect([entry(), memory.get(routeLimitKey(ROUTE_NAME))]).toEqual([expect.anything(), undefined]);
    memory.client.on(UpdateCommand).callsFake((input) => memory.update(input));

    await awaitIt();

    expect(memory.get(routeLimitKey(ROUTE_NAME))).toHaveProperty('queued');
    expect(position()).toEqual(placeAt('CHECK', 3_630));
  }));

test.each([
  ['has failed', 'failed'],
  ['has succeeded', 'succeeded'],
] as const)('a request that %s is dispatched, which decides', (_, status) =>
  withEnvironment(LIMITED, async () => {
    memory.patch(requestKey(REQUEST_ID), { status });
    await awaitIt();

    expect([woken(), entry(), starts()]).toEqual([['token-1'], undefined, 0]);
  }),
);

test('a wait at a route that is not configured any more is dispatched, and leaves nothing of an earlier try in the queue', async () => {
  const { requestId, accountId, createdAt } = request;
  const earlier = { requestId, accountId, createdAt, taskToken: 'token-0', tokenOrder: '0' };
  await putQueueEntry(ROUTE_NAME, { ...earlier, weight: 1, starts: 1 }, NOW);
  await awaitIt('token-1', 1);

  expect([woken(), entry()]).toEqual([['token-1'], undefined]);
});

test('a wait that is over at once has left the queue before it is dispatched: its turn may come meanwhile', async () => {
  const { requestId, accountId, createdAt } = request;
  const earlier = { requestId, accountId, createdAt, taskToken: 'token-0', tokenOrder: '0' };
  await putQueueEntry(ROUTE_NAME, { ...earlier, weight: 1, starts: 1 }, NOW);
  const queuedThen: unknown[] = [];
  executions.client.on(SendTaskSuccessCommand).callsFake(() => {
    queuedThen.push(entry());
    return {};
  });

  await awaitIt('token-1', 1);

  expect(queuedThen).toEqual([undefined]);
});

test('a request that was assigned another route since is dispatched again at once', () =>
  withEnvironment(LIMITED, async () => {
    memory.patch(requestKey(REQUEST_ID), { assignment: { ...ASSIGNED, route: 'fal/other', number: 2 } });
    await awaitIt();

    expect([woken(), entry()]).toEqual([['token-1'], undefined]);
  }));

test.each([
  ['was assigned another route', { assignment: { ...ASSIGNED, route: 'fal/other', number: 2 } }],
  ['has ended', { status: 'failed' }],
])(
  'a function that was held up until its request %s leaves the entry of a newer token in the queue',
  (_, change) =>
    withEnvironment(LIMITED, async () => {
      await awaitIt('token-2', 2);
      memory.patch(requestKey(REQUEST_ID), change);
      await awaitIt('token-1', 1);

      expect(entry()).toMatchObject({ taskToken: 'token-2' });
      expect(woken()).toEqual(['token-1']);
    }),
);
