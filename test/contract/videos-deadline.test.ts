import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { type Caller, eventually, send, sharedService, unique } from './support/client.ts';
import { type EndedExecution, endedExecution } from './support/executions.ts';
import { fetchFile } from './support/files.ts';
import { balance, entriesOf, expectUnbrokenChain } from './support/ledger.ts';
import type { LocalService } from './support/local-service.ts';
import { newBusyCaller, remove, uniqueEmail } from './support/resources.ts';
import { SHARED_RUNS } from './support/shared-runs.ts';
import {
  acceptedVideo,
  anUnfilmedVideo,
  createVideo,
  readVideo,
  settledVideo,
  VIDEO_MODELS,
  type VideoRecord,
} from './support/videos.ts';

const DEADLINE_SECONDS = SHARED_RUNS.filtered.videoDeadlineSeconds;
/** For a start beside everything else that the tests keep the machine busy with. */
const PATIENCE_MS = 120_000;

let service: LocalService;
let caller: Caller;
/** By model, a request its provider never finishes. */
let endless: Map<string, VideoRecord>;
/** By what is said of them in `SILENT`, requests that nobody reads or calls back for. */
let silent: Map<string, VideoRecord>;
beforeAll(async () => {
  service = await sharedService('filtered');
  caller = await newBusyCaller(service);
  const begin = async (model: string) => {
    const prompt = unique('[fail=timeout]');
    return [model, await acceptedVideo(caller, { model, prompt, endUserEmail: uniqueEmail() })] as const;
  };
  const leaveAlone = async ([what, body]: (typeof SILENT)[number]) => {
    return [what, await acceptedVideo(caller, body)] as const;
  };
  endless = new Map(await Promise.all(VIDEO_MODELS.map(begin)));
  silent = new Map(await Promise.all(SILENT.map(leaveAlone)));
}, PATIENCE_MS);

const SILENT: [what: string, body: Record<string, unknown>][] = [
  ['xW2.7S', { model: 'xW2.7S' }],
  ['xW3.0s', { model: 'xW3.0s' }],
  ['throttled', { model: 'xW3.0s', prompt: unique('[delay=6][status=THROTTLED][fail=content_policy]') }],
];

const startedOf = (requests: Map<string, VideoRecord>) => (what: string) => {
  const found = requests.get(what);
  if (!found) throw new Error(`No request was started for ${what}.`);
  return found;
};
const endlessOf = (model: string) => startedOf(endless)(model);
const silentOf = (what: string) => startedOf(silent)(what);

/** Makes the path at which a provider would call back for a request, with the secret of this run. */
const callbackPathOf = async (): Promise<(requestId: string) => string> => {
  const secrets = JSON.parse(await readFile(join(service.dataDir, 'secrets.json'), 'utf8'));
  const [name = ''] = Object.keys(secrets).filter((each) => each.startsWith('ProviderSecretsCallbacks'));
  const [{ text }] = Object.values<{ text: string }>(secrets[name]) as [{ text: string }];
  const tokenOf = (requestId: string) => createHmac('sha256', text).update(requestId).digest('hex');
  return (requestId) => `/callbacks/modelstudio/${requestId}/${tokenOf(requestId)}`;
};

/** Where the file of a completed video was. */
let fileUrl: string | undefined;

describe('A video that nobody reads and whose provider never calls back', () => {
  const POLLED = ['xW2.7S', 'xW3.0s'];
  const seen = new Map<string, { record: VideoRecord; execution: EndedExecution }>();
  beforeAll(async () => {
    // Each is read as soon as it has ended: its files are there for seconds only.
    const see = async (model: string) => {
      const { requestId } = silentOf(model);
      const execution = await endedExecution(service, requestId);
      seen.set(model, { execution, record: await readVideo(caller, requestId) });
    };
    await Promise.all(POLLED.map(see));
    fileUrl = seen.get('xW2.7S')?.record.videos?.[0]?.url;
  });

  test.each(POLLED)('is completed by polls, once, in few transitions: %s', async (model) => {
    const { record, execution } = seen.get(model) ?? {};

    const { requestId = '', status, videos, cost } = record ?? {};
    expect([execution?.status, status, videos?.length]).toEqual(['SUCCEEDED', 'succeeded', 1]);
    const states = execution?.states ?? [];
    expect(states).toContain('Query provider');
    expect(states.length).toBeLessThanOrEqual(12);
    expect(states.filter((state) => /^(Store|Settle|Fail)/.test(state))).toEqual([
      ...['Store outputs', 'Settle request'],
    ]);
    expect(await entriesOf(caller, requestId)).toEqual([['generation', cost]]);
  });

  test('is waited for while its task is in a state that is not known', async () => {
    const { requestId } = silentOf('throttled');

    const { states } = await endedExecution(service, requestId);

    const { status, error } = await readVideo(caller, requestId);
    expect([status, error?.code]).toEqual(['failed', 'content_policy']);
    expect(states).toContain('Query provider');
  });
});

describe('A callback, a read and a poll of the same task at the same moment', () => {
  /** When callbacks and reads set in: the execution polls 3 s after it began to wait, unless they come before. */
  const STARTS_MS = [500, 2600, 3000, 3400];

  test('end it once, whichever is first', async () => {
    const pathOf = await callbackPathOf();
    const race = async (startMs: number): Promise<VideoRecord> => {
      // The task is done when it is first asked for, and has nothing to show for itself.
      const prompt = unique('[delay=0][empty]');
      const { requestId } = await acceptedVideo(caller, { model: 'xW3.0s', prompt });
      await pause(startMs);
      return eventually(
        async () => {
          const [record, ...callbacks] = await Promise.all([
            readVideo(caller, requestId),
            send(service, 'POST', pathOf(requestId)),
            send(service, 'POST', pathOf(requestId)),
          ]);
          expect(callbacks.map(({ status }) => status)).toEqual([200, 200]);
          return record;
        },
        ({ status }) => status !== 'queued' && status !== 'processing',
      );
    };

    const records = await Promise.all(STARTS_MS.map(race));

    for (const record of records) {
      const { requestId, error } = record;
      const { status, states } = await endedExecution(service, requestId);
      expect(status).toBe('SUCCEEDED');
      // On a very slow machine its deadline is the first.
      expect(['provider_error', 'provider_timeout']).toContain(error?.code);
      expect(states.filter((state) => /^(Store|Settle|Fail)/.test(state))).toEqual(['Fail request']);
      expect(await entriesOf(caller, requestId)).toEqual([
        ['refund', 6],
        ['generation', 6],
      ]);
      expect(await readVideo(caller, requestId)).toEqual(record);
    }
  });
});

describe('A video whose provider never finishes', () => {
  test.each(VIDEO_MODELS)(
    'fails with provider_timeout at its deadline, and is refunded: %s',
    async (model) => {
      const { requestId } = endlessOf(model);

      const { status, error, createdAt = '', finishedAt = '' } = await settledVideo(caller, requestId);

      expect([status, error?.code]).toEqual(['failed', 'provider_timeout']);
      const milliseconds = Date.parse(finishedAt) - Date.parse(createdAt);
      expect(milliseconds).toBeGreaterThanOrEqual(DEADLINE_SECONDS * 1000);
      const [refund, debit, ...others] = await entriesOf(caller, requestId);
      expect([debit?.[0], others]).toEqual(['generation', []]);
      expect(refund).toEqual(['refund', debit?.[1]]);
    },
  );

  test.each(VIDEO_MODELS)('pauses its end-user with its model, and nothing else: %s', async (model) => {
    const { requestId, endUserEmail } = endlessOf(model);
    await settledVideo(caller, requestId);
    const before = await balance(caller);
    const create = (body: Record<string, unknown>) => createVideo(caller, anUnfilmedVideo(body));

    const refused = await create({ model, endUserEmail });

    expect(refusal(refused)).toEqual([503, 'temporarily_unavailable']);
    const secondsLeft = Number(refused.headers.get('retry-after'));
    expect(secondsLeft).toBeGreaterThanOrEqual(1);
    expect(secondsLeft).toBeLessThanOrEqual(180);
    expect(await balance(caller)).toBe(before);
    const another = VIDEO_MODELS.find((each) => each !== model);
    const accepted = [await create({ model: another, endUserEmail }), await create({ model })];
    expect(accepted.map(({ status }) => status)).toEqual([202, 202]);
    await Promise.all(accepted.map(({ body }) => settledVideo(caller, body.requestId)));
  });

  test('is deleted as any other', async () => {
    const { requestId } = endlessOf('xW3.0s');

    const { body } = await remove(caller, `/v1/generations/${requestId}`);

    expect(body).toEqual({ requestId, deleted: true, removedObjects: 0 });
  });

  test('leaves the ledger unbroken', () => expectUnbrokenChain(caller));
});

describe('A video whose files are past their time', () => {
  test('reads expired, with exactly the fields of that status, and its file is gone', async () => {
    const { requestId, createdAt } = silentOf('xW2.7S');

    const expired = await eventually(
      () => readVideo(caller, requestId),
      ({ status }) => status !== 'succeeded',
    );

    expect(expired).toMatchObject({ requestId, createdAt, model: 'xW2.7S', status: 'expired' });
    expect(Object.keys(expired).sort()).toEqual(
      ['requestId', 'model', 'status', 'prompt', 'endUserEmail', 'createdAt', 'finishedAt'].sort(),
    );
    expect((await fetchFile(fileUrl)).status).toBe(403);
    expect(await entriesOf(caller, requestId)).toEqual([['generation', 10]]);
    const { body } = await remove(caller, `/v1/generations/${requestId}`);
    expect(body).toEqual({ requestId, deleted: true, removedObjects: 0 });
  });
});
