import { beforeEach, describe, expect, test } from '@jest/globals';
import { putQueueEntry } from '../../../core/admission/queue-entries.ts';
import { routeLimitOf } from '../../../core/admission/route-limit-rules.ts';
import { takePermit } from '../../../core/admission/route-limits.ts';
import { putEnabled } from '../../../core/models/model-settings.ts';
import { namesOfProvider, PROVIDER_IDS } from '../../../core/provider-names.ts';
import { routeStateKey } from '../../../core/table/keys.ts';
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
const { ops, json } = describeLocalRun({
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
        ...{ state: 'on', cause: null, since: null },
        ...{ running: 4, maxRunning: 30, waiting: 2, oldestWaitingSeconds: expect.any(Number) },
      },
      {
        ...{ model: 'xSD4.5', provider: 'modelark', upstreamModel: 'seedream', position: 1 },
        ...{ state: 'off', cause: 'its model is switched off', since: null },
        ...{ running: null, maxRunning: null, waiting: 0, oldestWaitingSeconds: null },
      },
      {
        ...{ model: 'xQI3Pro', provider: 'modelstudio', upstreamModel: 'qwen', position: 1 },
        ...{ state: 'on', cause: null, since: null },
        ...{ running: null, maxRunning: null, waiting: 0, oldestWaitingSeconds: null },
      },
      {
        ...{ model: 'xQI3Pro', provider: 'fal', upstreamModel: 'alibaba/qwen-image-3', position: 2 },
        ...{ state: 'on', cause: null, since: null },
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
    expect(stdout.split('\n')[0]).toMatch(/^MODEL +POSITION +PROVIDER +UPSTREAM MODEL/);
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
