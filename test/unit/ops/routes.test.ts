import { beforeEach, describe, expect, test } from '@jest/globals';
import { putQueueEntry } from '../../../core/admission/queue-entries.ts';
import { routeLimitOf } from '../../../core/admission/route-limit-rules.ts';
import { takePermit } from '../../../core/admission/route-limits.ts';
import { newRequestId } from '../../../core/ids.ts';
import { putEnabled } from '../../../core/models/model-settings.ts';
import type { AttemptOutcome, ProviderAttempt } from '../../../core/provider-calls/provider-attempts.ts';
import { namesOfProvider, PROVIDER_IDS } from '../../../core/provider-names.ts';
import { providerAttemptKey, routeStateKey } from '../../../core/table/keys.ts';
import { widthOf } from '../../../ops/terminal-text.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anAttempt,
  aVideoRequest,
  putAccount,
  putRequest,
} from '../builders/entities.ts';
import { secrets } from '../fakes/fresh-secrets.ts';
import { memory } from '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

const ROUTES = {
  'xW2.7S': { provider: 'modelstudio', upstreamModel: 'wan', maxRunning: 30, requestsPerSecond: 5 },
  'xSD4.5': { provider: 'modelark', upstreamModel: 'seedream', requestsPerSecond: 8 },
  xQI3Pro: [
    { provider: 'modelstudio', upstreamModel: 'qwen' },
    { provider: 'fal', upstreamModel: 'alibaba/qwen-image-3' },
  ],
  'xZI1.0Pro': [
    { provider: 'modelstudio', upstreamModel: 'z-image' },
    { provider: 'modelark', upstreamModel: 'z-image' },
  ],
};
const { ops, opsOn, json } = describeLocalRun({
  ModelRoutes: JSON.stringify(ROUTES),
  ...Object.fromEntries(
    PROVIDER_IDS.flatMap((id) => [
      [namesOfProvider(id).secretOutput, `arn:${id}-key`],
      [namesOfProvider(id).baseUrlOutput, `https://${id}.example`],
    ]),
  ),
});

// One provider has no key.
beforeEach(() => {
  secrets.set('arn:modelark-key', undefined);
  secrets.set('arn:fal-key', 'key');
});

const NO_CALLS = { endedIn5Minutes: 0, failedIn5Minutes: 0, lastError: null };

describe('routes list', () => {
  test('has each route with its limit and load, and null where there is no limit or nobody waits', async () => {
    const now = new Date();
    const limit = routeLimitOf('modelstudio/wan', ROUTES['xW2.7S']);
    await takePermit(limit, { requestId: 'vid_0', accountId: 'a', weight: 4, starts: 4 }, now);
    for (const minutes of [1, 2]) {
      const createdAt = new Date(now.getTime() - 60_000 * minutes).toISOString();
      const waiting = { requestId: `vid_9${minutes}`, accountId: 'a', createdAt, taskToken: 't' };
      await putQueueEntry(limit.name, { ...waiting, tokenOrder: '1', weight: 1, starts: 1 }, now);
    }
    await putEnabled('xSD4.5', false);

    const found = await json('routes', 'list');

    expect(found).toEqual([
      {
        ...{ model: 'xW2.7S', provider: 'modelstudio', upstreamModel: 'wan', position: 1 },
        ...{ state: 'on', cause: null, since: null, ...NO_CALLS },
        ...{ running: 4, maxRunning: 30, waiting: 2, oldestWaitingSeconds: expect.any(Number) },
      },
      {
        ...{ model: 'xSD4.5', provider: 'modelark', upstreamModel: 'seedream', position: 1 },
        ...{ state: 'off', cause: 'its model is switched off', since: null, ...NO_CALLS },
        ...{ running: null, maxRunning: null, waiting: 0, oldestWaitingSeconds: null },
      },
      {
        ...{ model: 'xQI3Pro', provider: 'modelstudio', upstreamModel: 'qwen', position: 1 },
        ...{ state: 'on', cause: null, since: null, ...NO_CALLS },
        ...{ running: null, maxRunning: null, waiting: 0, oldestWaitingSeconds: null },
      },
      {
        ...{ model: 'xQI3Pro', provider: 'fal', upstreamModel: 'alibaba/qwen-image-3', position: 2 },
        ...{ state: 'on', cause: null, since: null, ...NO_CALLS },
        ...{ running: null, maxRunning: null, waiting: 0, oldestWaitingSeconds: null },
      },
      expect.objectContaining({ model: 'xZI1.0Pro', position: 1, state: 'on' }),
      expect.objectContaining({
        ...{ model: 'xZI1.0Pro', position: 2, state: 'off', cause: 'its provider has no key', since: null },
      }),
    ]);
    expect((found as { oldestWaitingSeconds: number }[])[0]?.oldestWaitingSeconds).toBeGreaterThanOrEqual(
      120,
    );
  });

  test('prints a table without --json', async () => {
    const { stdout } = await ops('routes', 'list');

    expect(stdout).toContain('xW2.7S');
    expect(stdout.split('\n')[0]).toMatch(/^MODEL +STATE +FAILED \(5 MIN\) +RUNNING +WAITING +ROUTE/);
  });
});

describe('the calls of a route', () => {
  const FAILURE = { code: 'provider_error', message: 'The provider failed.' } as const;
  const LATE = { code: 'provider_timeout', message: 'No answer in time.' } as const;
  const upstream = { code: 'InternalError', message: 'Please try again. '.repeat(20) };
  const done: AttemptOutcome = { kind: 'done', outputs: [{ url: 'https://x.example/1.png' }] };
  const route = { provider: 'modelstudio', upstreamModel: 'wan' };

  /** Puts a request of so many seconds ago with attempts that ended so many seconds ago. */
  const putCalls = (
    createdSecondsAgo: number,
    ends: readonly (Partial<ProviderAttempt> & { secondsAgo: number })[],
    accountId = ACCOUNT_ID,
  ): void => {
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
    const requestId = newRequestId('video', ago(createdSecondsAgo));
    putRequest(
      memory,
      aVideoRequest({ requestId, accountId, createdAt: ago(createdSecondsAgo).toISOString() }),
    );
    for (const [call, { secondsAgo, ...changes }] of ends.entries()) {
      const finishedAt = ago(secondsAgo).toISOString();
      const attempt = anAttempt({ ...route, requestId, call, finishedAt, ...changes });
      memory.put(providerAttemptKey(requestId, call, 0), { ...attempt });
    }
  };
  const callsOf = async (upstreamModel = 'wan') => {
    const found = (await json('routes', 'list')) as Record<string, unknown>[];
    return found.find((one) => one.upstreamModel === upstreamModel);
  };
  beforeEach(() => {
    for (const accountId of [ACCOUNT_ID, 'acc_2']) putAccount(memory, anAccount({ accountId }));
  });

  test('of a model with one route are counted for five minutes, of all accounts', async () => {
    putCalls(3_000, [
      { secondsAgo: 299, outcome: done },
      { secondsAgo: 310, outcome: { kind: 'lost', failure: LATE } },
    ]);
    putCalls(100, [{ secondsAgo: 50, outcome: { kind: 'failed', failure: FAILURE, upstream } }], 'acc_2');
    putCalls(10, [{ secondsAgo: 5, outcome: done, upstreamModel: 'seedream', provider: 'modelark' }]);

    expect(await callsOf()).toMatchObject({ endedIn5Minutes: 2, failedIn5Minutes: 1 });
    expect(await callsOf('seedream')).toMatchObject({ endedIn5Minutes: 1, failedIn5Minutes: 0 });
  });

  const refused = { kind: 'failed', taken: 'no', failure: FAILURE } as const;
  test.each<[name: string, failed: number, outcome: AttemptOutcome]>([
    ['an error', 1, { kind: 'failed', failure: FAILURE }],
    ['a lost call', 1, { kind: 'lost', failure: LATE }],
    ['throttling', 1, { kind: 'busy', reason: 'Too many requests' }],
    ['a refused key', 1, { ...refused, obstacle: 'access' }],
    ['refused content', 0, { kind: 'failed', failure: { ...FAILURE, code: 'content_policy' } }],
    ['a refused input', 0, { ...refused, blamesInput: true }],
    ['success', 0, done],
  ])('failed by %s: %s of 1', async (_, failedIn5Minutes, outcome) => {
    putCalls(10, [{ secondsAgo: 5, outcome }]);

    expect(await callsOf()).toMatchObject({
      ...{ endedIn5Minutes: 1, failedIn5Minutes },
      lastError: failedIn5Minutes === 0 ? null : { at: expect.any(String), text: expect.any(String) },
    });
  });

  test('that are under way, or of a request that is over two hours old, count as nothing', async () => {
    putCalls(10, [{ secondsAgo: 5, finishedAt: undefined, outcome: { kind: 'accepted', taskId: 't' } }]);
    putCalls(7_300, [{ secondsAgo: 5, outcome: { kind: 'lost', failure: LATE } }]);

    expect(await callsOf()).toMatchObject(NO_CALLS);
  });

  test('have the last error in the words of the provider, also of hours ago', async () => {
    putCalls(3_600, [{ secondsAgo: 3_000, outcome: { kind: 'lost', failure: LATE } }]);
    putCalls(3_500, [{ secondsAgo: 3_100, outcome: { kind: 'busy', reason: 'Too many requests' } }]);

    expect(await callsOf()).toMatchObject({ endedIn5Minutes: 0, lastError: { text: LATE.message } });

    putCalls(2_000, [{ secondsAgo: 1_000, outcome: { kind: 'failed', failure: FAILURE, upstream } }]);
    expect(await callsOf()).toMatchObject({
      lastError: { text: `${upstream.code}: ${upstream.message}` },
    });
  });

  test.each([80, 100, 200])('take at most two lines a route on a terminal of %s columns', async (columns) => {
    for (const seconds of [10, 20])
      putCalls(seconds, [{ secondsAgo: 5, outcome: { kind: 'failed', failure: FAILURE, upstream } }]);
    await putEnabled('xW2.7S', false);

    const { stdout } = await opsOn({ columns }, 'routes', 'list');

    const lines = stdout.trimEnd().split('\n');
    expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
    // Six routes and the titles.
    expect(lines.length).toBeLessThanOrEqual(14);
    const at = lines.findIndex((line) => line.startsWith('xW2.7S'));
    expect(lines[at]).toMatch(/^xW2\.7S +off +2 of 2 /);
    expect(lines[at + 1]).toMatch(/^ {2}modelstudio\/wan +its model is switched off; .+…$/);
  });
});

describe('a route', () => {
  const FAL = 'fal/alibaba/qwen-image-3';
  const stateOf = async (route: string) => {
    const found = (await json('routes', 'list')) as Record<string, unknown>[];
    return found.find((one) => `${one.provider}/${one.upstreamModel}` === route);
  };

  test('is left by hand and used again, and both are recorded', async () => {
    expect(await json('routes', 'leave', FAL)).toEqual({ route: FAL, leftOut: true });
    expect(await stateOf(FAL)).toMatchObject({ state: 'left', cause: 'by hand', since: expect.any(String) });

    expect(await json('routes', 'return', FAL)).toEqual({ route: FAL, leftOut: false });
    expect(await stateOf(FAL)).toMatchObject({ state: 'on', cause: null, since: null });
    expect(await json('audit', 'list')).toMatchObject([
      { action: 'routes return', subject: FAL },
      { action: 'routes leave', subject: FAL },
    ]);
  });

  test('that failed is paused, with cause and since when, and then due to be tried', async () => {
    const pausedAt = new Date(Date.now() - 60_000).toISOString();
    const pausedUntil = (seconds: number) => new Date(Date.now() + 1_000 * seconds).toISOString();
    for (const [seconds, state] of [[60, 'paused'] as const, [-1, 'due'] as const]) {
      const item = { pauseReason: 'access', pausedAt, pausedUntil: pausedUntil(seconds), pauseSeconds: 30 };
      memory.put(routeStateKey(FAL), item);
      expect(await stateOf(FAL)).toMatchObject({ state, cause: 'access', since: pausedAt });
    }
  });

  test('that is the last of a model is not left', async () => {
    for (const route of ['modelark/seedream', FAL]) {
      if (route === FAL) await json('routes', 'leave', 'modelstudio/qwen');
      const { status, stderr } = await ops('routes', 'leave', route);
      expect([status, stderr]).toEqual([
        2,
        expect.stringContaining('has no other route to use: models disable'),
      ]);
      expect(await stateOf(route)).toMatchObject({ since: null });
    }
  });

  test('is not left when the provider of the other one has no key', async () => {
    expect(await ops('routes', 'leave', 'modelstudio/z-image')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('xZI1.0Pro has no other route to use'),
    });
  });

  test('that nobody configured is not found', async () => {
    expect(await ops('routes', 'leave', 'fal/other')).toMatchObject({
      status: 1,
      stderr: 'There is no route fal/other. List routes with: routes list\n',
    });
  });
});
