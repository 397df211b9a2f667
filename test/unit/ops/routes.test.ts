import '../builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type Gate, gateOf } from '../../../core/admission/gate-rules.ts';
import { takePermit } from '../../../core/admission/gates.ts';
import { putWaiter } from '../../../core/admission/waiters.ts';
import { putEnabled } from '../../../core/models/model-settings.ts';
import { namesOfProvider, PROVIDER_IDS } from '../../../core/provider-names.ts';
import { describeLocalRun } from './local-run.ts';
import '../fakes/fresh-table.ts';
import { secrets } from '../fakes/fresh-secrets.ts';

const ROUTES = {
  'xW2.7S': { provider: 'modelstudio', upstreamModel: 'wan', maxRunning: 30, requestsPerSecond: 5 },
  'xSD4.5': { provider: 'modelark', upstreamModel: 'seedream', requestsPerSecond: 8 },
  xQI3Pro: [
    { provider: 'modelstudio', upstreamModel: 'qwen' },
    { provider: 'fal', upstreamModel: 'alibaba/qwen-image-3' },
  ],
};
const { ops, json } = describeLocalRun({
  ModelRoutes: JSON.stringify(ROUTES),
  ...Object.fromEntries(PROVIDER_IDS.map((id) => [namesOfProvider(id).secretOutput, `arn:${id}-key`])),
});

// One provider has no key.
beforeEach(() => secrets.set('arn:modelark-key', undefined));

describe('routes list', () => {
  test('has each route with its limit and load, and null where there is no limit or nobody waits', async () => {
    const now = new Date();
    const gate = gateOf('modelstudio/wan', ROUTES['xW2.7S']) as Gate;
    await takePermit(gate, { requestId: 'vid_0', accountId: 'a', weight: 4, starts: 4 }, now);
    for (const minutes of [1, 2]) {
      const createdAt = new Date(now.getTime() - 60_000 * minutes).toISOString();
      const waiting = { requestId: `vid_9${minutes}`, accountId: 'a', createdAt, taskToken: 't' };
      await putWaiter(gate.name, { ...waiting, tokenOrder: '1', weight: 1, starts: 1 }, now);
    }
    await putEnabled('xQI3Pro', false);

    const found = await json('routes', 'list');

    expect(found).toEqual([
      {
        ...{ model: 'xW2.7S', provider: 'modelstudio', upstreamModel: 'wan', position: 1, state: 'on' },
        ...{ running: 4, maxRunning: 30, waiting: 2, oldestWaitingSeconds: expect.any(Number) },
      },
      {
        ...{ model: 'xSD4.5', provider: 'modelark', upstreamModel: 'seedream', position: 1, state: 'off' },
        ...{ running: null, maxRunning: null, waiting: 0, oldestWaitingSeconds: null },
      },
      {
        ...{ model: 'xQI3Pro', provider: 'modelstudio', upstreamModel: 'qwen', position: 1, state: 'off' },
        ...{ running: null, maxRunning: null, waiting: null, oldestWaitingSeconds: null },
      },
      {
        ...{ model: 'xQI3Pro', provider: 'fal', upstreamModel: 'alibaba/qwen-image-3', position: 2 },
        ...{ state: 'off', running: null, maxRunning: null, waiting: null, oldestWaitingSeconds: null },
      },
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
