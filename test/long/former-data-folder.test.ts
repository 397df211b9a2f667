import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type AnyRecord,
  accepted,
  type Caller,
  callerWith,
  eventually,
  read,
  settled,
  unique,
} from '../contract/support/client.ts';
import { expectPaidOnce, history } from '../contract/support/ledger.ts';
import {
  newDataDir,
  ops,
  type RunningService,
  type StartOptions,
  startLocalService,
} from '../contract/support/local-service.ts';
import { type SandboxProcess, startSandboxProcess } from '../contract/support/sandbox.ts';
import { acceptedVideo, readVideo, settledVideo } from '../contract/support/videos.ts';
import { type Checkout, checkOut, commitOf } from '../releases/checkout.ts';
import { readLastRelease } from '../releases/last-release.ts';

const { version, commit } = readLastRelease();
const isThere = commitOf(commit) !== undefined;
if (!isThere)
  console.warn(
    `Without the history of ${version}, the local run is not started on a data folder of that release.`,
  );
const onFormerFolder = isThere ? test : test.skip;

let dataDir: string;
let sandbox: SandboxProcess;
let former: Checkout;
let service: RunningService | undefined;
let caller: Caller;

/** Starts a release on the folder, and stops the one that ran on it. */
const start = async (options: StartOptions = {}): Promise<void> => {
  await service?.stop('SIGINT');
  service = undefined;
  const context = { ...sandbox.context, pollIntervalSeconds: 1 };
  service = await startLocalService(dataDir, { ...options, context });
  const lacks = options.tree === undefined ? [] : ['x-service-version'];
  caller = callerWith({ ...service, lacks }, service.accountId, service.apiKey);
};

beforeAll(async () => {
  if (!isThere) return;
  dataDir = await newDataDir();
  sandbox = await startSandboxProcess();
  former = checkOut(commit);
});
afterAll(async () => {
  await service?.stop();
  if (!isThere) return;
  await sandbox.stop();
  former.remove();
  await rm(dataDir, { recursive: true, force: true });
});

/** Begins requests that are in a call, in a task, waiting for a busy provider or just created when the run stops. */
const begin = async (): Promise<{ images: string[]; videos: string[] }> => {
  const bodies = [
    { prompt: unique('[delay=20]'), size: '512x512' },
    { model: 'xQI3Pro', size: '512x512', prompt: unique('[delay=20]') },
    { size: '512x512', prompt: unique('[flaky=3]') },
  ];
  const begun = await Promise.all(bodies.map((body) => accepted(caller, body)));
  const videos = [(await acceptedVideo(caller, { prompt: unique('[delay=20]') })).requestId];
  for (const { requestId } of begun) {
    await eventually(
      () => read(caller, requestId),
      ({ status }) => status !== 'queued',
    );
  }
  await eventually(
    () => readVideo(caller, videos[0] ?? ''),
    ({ status }) => status !== 'queued',
  );
  const last = await accepted(caller, { size: '512x512' });
  return { images: [...begun, last].map(({ requestId }) => requestId), videos };
};

/** Expects that each request ended, and was paid for once or refunded. */
const expectEnded = async ({ images, videos }: { images: string[]; videos: string[] }): Promise<void> => {
  const ended: { requestId: string; status: string; cost?: number }[] = [
    ...(await Promise.all(images.map((id) => settled(caller, id)))),
    ...(await Promise.all(videos.map((id) => settledVideo(caller, id)))),
  ];
  await expectPaidOnce(caller, ended);
  // A call that was being made is lost with the run. A task, and a request that was not called yet, go on.
  expect(ended.slice(1).filter(({ status }) => status === 'succeeded').length).toBeGreaterThanOrEqual(3);
  const { problems } = await ops<{ problems: unknown[] }>(service as RunningService, 'ledger', 'verify');
  expect(problems).toEqual([]);
};

/** A record without its URLs, which each read signs anew. */
const shown = ({ images = [], ...record }: AnyRecord): object => ({
  ...record,
  images: images.map(({ url: _, ...image }) => image),
});

onFormerFolder(
  'this release goes on with the data folder of the last one, requests under way included, and so does the last one with what this one left',
  async () => {
    await start({ tree: former.tree });
    const done = await settled(caller, (await accepted(caller, { size: '512x512' })).requestId);
    const refused = await settled(
      caller,
      (await accepted(caller, { prompt: unique('[fail=content_policy]') })).requestId,
    );
    const [before, entries] = [await begin(), await history(caller)];

    await start();
    expect(shown(await read(caller, done.requestId))).toEqual(shown(done));
    expect(await read(caller, refused.requestId)).toEqual(refused);
    expect((await history(caller)).slice(-entries.length)).toEqual(entries);
    await expectEnded(before);
    const here = await settled(caller, (await accepted(caller, { size: '512x512' })).requestId);
    expect(here.status).toBe('succeeded');
    const after = await begin();

    await start({ tree: former.tree });
    expect(shown(await read(caller, here.requestId))).toEqual(shown(here));
    await expectEnded(after);
    expect((await settled(caller, (await accepted(caller, { size: '512x512' })).requestId)).status).toBe(
      'succeeded',
    );
  },
  600_000,
);
