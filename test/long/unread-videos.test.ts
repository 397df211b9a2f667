import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually, send, unique } from '../contract/support/client.ts';
import { type EndedExecution, endedExecution } from '../contract/support/executions.ts';
import { fetchFile } from '../contract/support/files.ts';
import { entriesOf, refundedInFull } from '../contract/support/ledger.ts';
import { remove } from '../contract/support/resources.ts';
import { useCaller } from '../contract/support/use-caller.ts';
import { acceptedVideo, readVideo, type VideoRecord } from '../contract/support/videos.ts';

/** Enough for a start while other tests keep the machine busy. */
const PATIENCE_MS = 120_000;

const caller = useCaller(undefined, 'filtered');
/** The requests of `SILENT` by name: no one reads them, and their provider never calls back. */
let silent: Map<string, VideoRecord>;
beforeAll(async () => {
  const createSilent = async ([what, body]: (typeof SILENT)[number]) => {
    return [what, await acceptedVideo(caller, body)] as const;
  };
  silent = new Map(await Promise.all(SILENT.map(createSilent)));
}, PATIENCE_MS);

const SILENT: [what: string, body: Record<string, unknown>][] = [
  ['xW2.7S', { model: 'xW2.7S' }],
  ['xW3.0s', { model: 'xW3.0s' }],
  ['throttled', { model: 'xW3.0s', prompt: unique('[delay=6][status=THROTTLED][fail=content_policy]') }],
];

const silentOf = (what: string): VideoRecord => {
  const found = silent.get(what);
  if (!found) throw new Error(`No request was started for ${what}.`);
  return found;
};

/** Returns a function that makes the callback path of a request, with the secret of this run. */
const callbackPathOf = async (): Promise<(requestId: string) => string> => {
  const secrets = JSON.parse(await readFile(join(caller.service.dataDir, 'secrets.json'), 'utf8'));
  const [name = ''] = Object.keys(secrets).filter((each) => each.startsWith('ProviderSecretsCallbacks'));
  const [{ text }] = Object.values<{ text: string }>(secrets[name]) as [{ text: string }];
  const tokenOf = (requestId: string) =>
    createHmac('sha256', text).update(`modelstudio\n${requestId}`).digest('hex');
  return (requestId) => `/callbacks/modelstudio/${requestId}/${tokenOf(requestId)}`;
};

/** The signed URL of a completed video's file. */
let fileUrl: string | undefined;

describe('A video without reads or callbacks', () => {
  const POLLED = ['xW2.7S', 'xW3.0s'];
  const seen = new Map<string, { record: VideoRecord; execution: EndedExecution }>();
  beforeAll(async () => {
    // Each is read as soon as it has ended: its files last only seconds.
    const readOnceEnded = async (model: string) => {
      const { requestId } = silentOf(model);
      const execution = await endedExecution(caller.service, requestId);
      seen.set(model, { execution, record: await readVideo(caller, requestId) });
    };
    await Promise.all(POLLED.map(readOnceEnded));
    fileUrl = seen.get('xW2.7S')?.record.videos?.[0]?.url;
  });

  test.each(POLLED)('is completed by polls, once, in six transitions: %s', async (model) => {
    const { record, execution } = seen.get(model) ?? {};

    const { requestId = '', status, videos, cost } = record ?? {};
    expect([execution?.status, status, videos?.length]).toEqual(['SUCCEEDED', 'succeeded', 1]);
    expect(execution?.states).toEqual([
      'Dispatch request',
      'Where does the request stand?',
      'Wait for provider',
      'Where does the request stand?',
      'Store outputs',
      'Settle request',
    ]);
    expect(await entriesOf(caller, requestId)).toEqual([['generation', cost]]);
  });

  test('is polled on while its task is in an unknown state', async () => {
    const { requestId } = silentOf('throttled');

    const { states } = await endedExecution(caller.service, requestId);

    const { status, error } = await readVideo(caller, requestId);
    expect([status, error?.code]).toEqual(['failed', 'content_policy']);
    expect(states).not.toContain('Query provider');
  });
});

describe('A callback, a read and a poll of the same task at the same time', () => {
  /** When callbacks and reads begin: the execution polls 3 s after it begins to wait, unless they come first. */
  const STARTS_MS = [500, 2600, 3000, 3400];

  test('end it once, whichever comes first', async () => {
    const pathOf = await callbackPathOf();
    const race = async (startMs: number): Promise<VideoRecord> => {
      // The task is done at the first query, without an output.
      const prompt = unique('[delay=0][empty]');
      const { requestId } = await acceptedVideo(caller, { model: 'xW3.0s', prompt });
      await pause(startMs);
      return eventually(
        async () => {
          const [record, ...callbacks] = await Promise.all([
            readVideo(caller, requestId),
            send(caller.service, 'POST', pathOf(requestId)),
            send(caller.service, 'POST', pathOf(requestId)),
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
      const { status, states } = await endedExecution(caller.service, requestId);
      expect(status).toBe('FAILED');
      // On a very slow machine its deadline comes first.
      expect(['provider_error', 'provider_timeout']).toContain(error?.code);
      expect(states.filter((state) => /^(Store|Settle|Fail)/.test(state))).toEqual(['Fail request']);
      expect(await entriesOf(caller, requestId)).toEqual(refundedInFull(6));
      expect(await readVideo(caller, requestId)).toEqual(record);
    }
  });
});

describe('A video whose files have expired', () => {
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
