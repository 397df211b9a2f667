import { armFault, disarmFaults, faultsLeft } from '@generation-service/local-aws/faults';
import { afterEach, expect, test } from '@jest/globals';
import { accepted, eventually, settled, unique } from '../contract/support/client.ts';
import { endedExecution } from '../contract/support/executions.ts';
import { fetchFile } from '../contract/support/files.ts';
import { balance, entriesOf, expectUnbrokenChain } from '../contract/support/ledger.ts';
import { ops } from '../contract/support/local-service.ts';
import { executionStatus } from '../contract/support/stopping.ts';
import { storedRequests } from '../contract/support/stored.ts';
import { acceptedVideo, settledVideo } from '../contract/support/videos.ts';
import { useOwnRun } from './own-run.ts';

/** Time for several attempts at a busy provider. */
const IMAGE_DEADLINE_SECONDS = 15;
/** A waiting video without news is due for the reconciler this often. */
const CALLBACK_WAIT_SECONDS = 10;
const TOPPED_UP = 10_000;

const { service, caller, proxy } = useOwnRun({
  context: { imageDeadlineSeconds: IMAGE_DEADLINE_SECONDS, callbackWaitSeconds: CALLBACK_WAIT_SECONDS },
  proxied: ['modelArkBaseUrl'],
  xTokens: TOPPED_UP,
});
afterEach(() => disarmFaults(service));

/** Expects that each URL gives a file. */
const expectFiles = async (urls: (string | undefined)[]): Promise<void> => {
  for (const url of urls) {
    const { status, bytes } = await fetchFile(url);
    expect(status).toBe(200);
    expect(bytes.length).toBeGreaterThan(0);
  }
};

test('Of four images whose provider takes only three, three are delivered at the deadline and one is refunded', async () => {
  const [images, taken] = [4, 3];
  const pricePerImage = 4;
  const statuses: number[] = [];
  proxy.stop = ({ path }, response) => {
    if (!path.endsWith('/images/generations')) return false;
    const isFull = statuses.length >= taken;
    statuses.push(isFull ? 429 : 200);
    if (!isFull) return false;
    const error = { code: 'ServerOverloaded', message: 'The service is overloaded.' };
    response.writeHead(429, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
    return true;
  };

  const { requestId } = await accepted(caller, { model: 'xSD4.5', n: images });
  const record = await settled(caller, requestId);

  expect(record).toMatchObject({ status: 'succeeded', cost: taken * pricePerImage });
  expect(record.images).toHaveLength(taken);
  await expectFiles((record.images ?? []).map(({ url }) => url));
  expect(await entriesOf(caller, requestId)).toEqual([
    ['refund', (images - taken) * pricePerImage],
    ['generation', images * pricePerImage],
  ]);
  expect(await balance(caller)).toBe(TOPPED_UP - taken * pricePerImage);
  // The busy call was repeated, the others were not.
  expect(statuses.filter((status) => status === 200)).toHaveLength(taken);
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(2);
});

/** Attempts at each file in one run of the function: three, of three calls each. */
const CALLS_OF_A_RUN = 9;
const OUTAGE_MS = 4_000;
const MANY = 1_000;

test('While S3 refuses for seconds, outputs that are being stored only wait', async () => {
  proxy.stop = () => false;
  const before = await balance(caller);
  // Time to arm the faults.
  const prompt = () => unique('[delay=3]');
  const [image, video] = await Promise.all([
    accepted(caller, { model: 'xQI3Pro', size: '512x512', n: 2, prompt: prompt() }),
    acceptedVideo(caller, { prompt: prompt() }),
  ]);
  const files = [2, 1];
  for (const { requestId } of [image, video]) {
    await armFault(service, { call: 's3:*', contains: requestId, effect: 'throttle', times: MANY });
  }

  const refusals = async () => (await faultsLeft(service)).map((left) => MANY - left);
  await eventually(refusals, (counts) => counts.every((count) => count > 0));
  const since = Date.now();
  await eventually(
    refusals,
    (counts) =>
      Date.now() - since >= OUTAGE_MS &&
      counts.every((count, index) => count > CALLS_OF_A_RUN * (files[index] ?? 0)),
  );
  await disarmFaults(service);

  const [storedImage, storedVideo] = await Promise.all([
    settled(caller, image.requestId),
    settledVideo(caller, video.requestId),
  ]);
  expect(storedImage).toMatchObject({ status: 'succeeded', cost: 8 });
  expect(storedVideo).toMatchObject({ status: 'succeeded', cost: 24 });
  const outputs = [...(storedImage.images ?? []), ...(storedVideo.videos ?? [])];
  expect(outputs).toHaveLength(3);
  await expectFiles(outputs.map(({ url }) => url));
  for (const { requestId } of [image, video]) {
    expect((await entriesOf(caller, requestId)).map(([kind]) => kind)).toEqual(['generation']);
    expect((await endedExecution(service, requestId)).status).toBe('SUCCEEDED');
  }
  expect(await balance(caller)).toBe(before - 32);
});

/** A query that hangs takes 10 s: eight at a time, these would take four minutes. */
const VIDEOS = 200;
const CREATED_AT_ONCE = 8;
const STARTED_WITHIN_SECONDS = 120;

test('A request that never started is started within 2 minutes, however many videos wait for a provider that hangs', async () => {
  const tasks = '/contents/generations/tasks';
  const asked: string[] = [];
  proxy.stop = ({ method, path }) => {
    const hangs = method === 'GET' && path.includes(tasks);
    if (hangs) asked.push(path);
    return hangs;
  };
  const createdBefore = proxy.requests.length;
  const creating = Array.from({ length: CREATED_AT_ONCE }, async () => {
    for (let count = 0; count < VIDEOS / CREATED_AT_ONCE; count++) {
      await acceptedVideo(caller, { prompt: unique('[fail=timeout][callback=off]') });
    }
  });
  await Promise.all(creating);
  const tasksCreated = () =>
    proxy.requests
      .slice(createdBefore)
      .filter(({ method, path }) => method === 'POST' && path.endsWith(tasks));
  await eventually(
    async () => tasksCreated().length,
    (count) => count === VIDEOS,
    120,
  );
  // A run of the reconciler is busy with them.
  const askedBefore = asked.length;
  await eventually(
    async () => asked.length,
    (count) => count >= askedBefore + 8,
    120,
  );

  // Outlasts the attempts of the client.
  await armFault(service, {
    ...{ call: 'states:StartExecution', principal: '*CreateGeneration*' },
    ...{ effect: 'throttle', times: 4 },
  });
  const { requestId, createdAt = '' } = await accepted(caller, { size: '512x512' });
  expect(await faultsLeft(service)).toEqual([0]);
  expect(await executionStatus(service, 'generation', requestId)).toBeUndefined();

  await eventually(
    () => executionStatus(service, 'generation', requestId),
    (status) => status !== undefined,
    STARTED_WITHIN_SECONDS - (Date.now() - Date.parse(createdAt)) / 1000,
  );

  expect(new Set(asked).size).toBeLessThan(VIDEOS);
  expect(await settled(caller, requestId)).toMatchObject({ status: 'succeeded', cost: 1 });
  expect(await entriesOf(caller, requestId)).toEqual([['generation', 1]]);
  const unfinished = (await storedRequests(service)).filter(({ status }) => status === 'processing');
  expect(unfinished).toHaveLength(VIDEOS);
}, 480_000);

test('After all of it the ledger is right', async () => {
  expect(await ops(service, 'ledger', 'verify')).toMatchObject({ accounts: 2, problems: [] });
  await expectUnbrokenChain(caller);
});
