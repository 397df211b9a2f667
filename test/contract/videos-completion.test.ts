import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Caller, eventually, newCaller, sharedService, unique } from './support/client.ts';
import { type EndedExecution, endedExecution } from './support/executions.ts';
import { entriesOf, expectUnbrokenChain } from './support/ledger.ts';
import { acceptedVideo, readVideo, settledVideo, upstreamTask, type VideoRecord } from './support/videos.ts';

let caller: Caller;
/** Requests by kind. All run at once while the tests check them one by one. */
const started = new Map<string, Promise<VideoRecord>>();
let manyReads: ReturnType<typeof readOften>;
beforeAll(async () => {
  caller = await newCaller(await sharedService());
  for (const [what, body] of Object.entries(REQUESTS)) {
    const { directives, ...rest } = body;
    started.set(what, acceptedVideo(caller, { ...rest, prompt: unique(directives) }));
  }
  await Promise.all(started.values());
  // Started at once, while the task is still running.
  manyReads = readOften(await requestOf('read often by many'));
  // Its test awaits it; until then a failure must not be an unhandled rejection.
  manyReads.catch(() => undefined);
});

/** Reads four at a time, ten times a second, until a request has ended. Returns the reads and the seconds since its creation. */
const readOften = async ({ requestId, createdAt = '' }: VideoRecord) => {
  const READERS = 4;
  let reads = 0;
  await eventually(
    () => {
      reads += READERS;
      return Promise.all(Array.from({ length: READERS }, () => readVideo(caller, requestId)));
    },
    (records) => records.every(({ status }) => status === 'succeeded' || status === 'failed'),
  );
  return { reads, seconds: (Date.now() - Date.parse(createdAt)) / 1000 };
};

const REQUESTS = {
  'called back twice': { directives: '[delay=0.5][callback=twice]' },
  'called back before it waits': { directives: '[delay=0]' },
  'called back on the third attempt': { directives: '[flaky=2][delay=0]' },
  'called back late': { directives: '[delay=0][callback=late]' },
  'read, of xW2.7S': { model: 'xW2.7S', directives: '[delay=0]' },
  'read, of xW3.0s, for long': { model: 'xW3.0s', directives: '[delay=6]' },
  'read often by many': { directives: '[delay=3][callback=off]' },
};

const requestOf = (what: keyof typeof REQUESTS): Promise<VideoRecord> =>
  started.get(what) ?? Promise.reject(new Error(`${what} was not started`));

/** Expects that a request was stored, settled and paid once each, with one video. */
const expectEndedOnce = async (
  { requestId }: VideoRecord,
  { status, states }: EndedExecution,
): Promise<void> => {
  const { videos, cost = 0, ...record } = await readVideo(caller, requestId);
  expect([status, record.status, videos?.length]).toEqual(['SUCCEEDED', 'succeeded', 1]);
  expect(states.filter((state) => /^(Dispatch|Store|Settle|Fail)/.test(state))).toEqual([
    ...['Dispatch request', 'Store outputs', 'Settle request'],
  ]);
  expect(await entriesOf(caller, requestId)).toEqual([['generation', cost]]);
};

const STATES_OF_ONE_WAIT = [
  ...['Dispatch request', 'Choose next step', 'Wait for provider', 'Choose next step'],
  ...['Store outputs', 'Settle request'],
];

describe('A video that no one reads is completed', () => {
  test.each(['called back twice', 'called back before it waits'] as const)(
    'by a callback, in at most 7 state transitions: %s',
    async (what) => {
      const request = await requestOf(what);

      const execution = await endedExecution(caller.service, request.requestId);

      expect(execution.states).toEqual(STATES_OF_ONE_WAIT);
      await expectEndedOnce(request, execution);
    },
  );

  test('by a callback after its provider was busy twice, with three transitions for each wait', async () => {
    const request = await requestOf('called back on the third attempt');

    const execution = await endedExecution(caller.service, request.requestId);

    const oneWait = ['Dispatch request', 'Choose next step', 'Wait for busy provider'];
    expect(execution.states).toEqual([...oneWait, ...oneWait, ...STATES_OF_ONE_WAIT]);
    const last = execution.states.lastIndexOf('Dispatch request');
    await expectEndedOnce(request, { ...execution, states: execution.states.slice(last) });
  });
});

describe('A video that is read is completed', () => {
  test.each(['read, of xW2.7S', 'read, of xW3.0s, for long'] as const)(
    'by its reads or a poll, in at most 12 state transitions: %s',
    async (what) => {
      const request = await requestOf(what);

      await settledVideo(caller, request.requestId);

      const execution = await endedExecution(caller.service, request.requestId);
      expect(execution.states.length).toBeLessThanOrEqual(12);
      await expectEndedOnce(request, execution);
    },
  );

  test('by its reads alone, which query the provider once in 10 s however many there are', async () => {
    const request = await requestOf('read often by many');

    const { reads, seconds } = await manyReads;

    const { queries, callbacks } = await upstreamTask(caller, request);
    expect(callbacks).toEqual([]);
    expect(queries).toBeLessThanOrEqual(1 + Math.floor(seconds / 10));
    expect(reads).toBeGreaterThan(20);
    const execution = await endedExecution(caller.service, request.requestId);
    expect(execution.states).toEqual(STATES_OF_ONE_WAIT);
    await expectEndedOnce(request, execution);
  });
});

test('The ledger is unbroken after all completions', async () => {
  await Promise.all([...started.values()].map(async (one) => settledVideo(caller, (await one).requestId)));

  await expectUnbrokenChain(caller);
});
