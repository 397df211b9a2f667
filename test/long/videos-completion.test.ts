import { beforeAll, expect, test } from '@jest/globals';
import { type Caller, eventually, newCaller, sharedService, unique } from '../contract/support/client.ts';
import { endedExecution } from '../contract/support/executions.ts';
import { entriesOf, expectUnbrokenChain } from '../contract/support/ledger.ts';
import { acceptedVideo, readVideo, upstreamTask, type VideoRecord } from '../contract/support/videos.ts';

const ONE_WAIT = [
  ...[
    'Dispatch request',
    'Where does the request stand?',
    'Wait for provider',
    'Where does the request stand?',
  ],
  ...['Store outputs', 'Settle request'],
];
const ONE_REFUSAL = ['Dispatch request', 'Where does the request stand?', 'Wait for busy provider'];
/**
 * Requests by kind, each with the states that its execution enters. All requests run at once; the tests check them in
 * sequence.
 */
const REQUESTS = {
  'called back twice': { directives: '[delay=0.5][callback=twice]', states: ONE_WAIT },
  'called back before it waits': { directives: '[delay=0]', states: ONE_WAIT },
  'called back on the third attempt': {
    directives: '[flaky=2][delay=0]',
    states: [...ONE_REFUSAL, ...ONE_REFUSAL, ...ONE_WAIT],
  },
  'read often by many': { directives: '[delay=3][callback=off]', states: ONE_WAIT },
};
type Kind = keyof typeof REQUESTS;

let caller: Caller;
const started = new Map<Kind, VideoRecord>();
let manyReads: ReturnType<typeof readOften>;
beforeAll(async () => {
  caller = await newCaller(await sharedService());
  const start = async (kind: Kind) => {
    started.set(kind, await acceptedVideo(caller, { prompt: unique(REQUESTS[kind].directives) }));
  };
  await Promise.all((Object.keys(REQUESTS) as Kind[]).map(start));
  // Started at once, while the task is still running.
  manyReads = readOften(requestOf('read often by many'));
  // Its test awaits it; until then a failure must not be an unhandled rejection.
  manyReads.catch(() => undefined);
});
const requestOf = (kind: Kind) => started.get(kind) ?? { requestId: '', status: 'missing' };

const READERS = 4;
/** Reads four at a time, again and again, until a request has ended. Returns the reads and the seconds since its creation. */
const readOften = async ({ requestId, createdAt = '' }: VideoRecord) => {
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

// More courses of videos are played in test/workflow and test/long/unread-videos.test.ts.
test.each(Object.keys(REQUESTS) as Kind[])(
  'A video that is %s is stored, settled and paid once, in few state transitions',
  async (kind) => {
    const { requestId } = requestOf(kind);

    const { status, states } = await endedExecution(caller.service, requestId);

    expect([status, states]).toEqual(['SUCCEEDED', REQUESTS[kind].states]);
    const { videos, cost, ...record } = await readVideo(caller, requestId);
    expect([record.status, videos?.length]).toEqual(['succeeded', 1]);
    expect(await entriesOf(caller, requestId)).toEqual([['generation', cost]]);
  },
);

test('Reads of a video query its provider once in 10 s however many there are', async () => {
  const { reads, seconds } = await manyReads;

  const { queries, callbacks } = await upstreamTask(caller, requestOf('read often by many'));
  expect(callbacks).toEqual([]);
  expect(queries).toBeLessThanOrEqual(1 + Math.floor(seconds / 10));
  expect(reads).toBeGreaterThan(2 * READERS);
  await expectUnbrokenChain(caller);
});
