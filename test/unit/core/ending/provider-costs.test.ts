import { describe, expect, test } from '@jest/globals';
import { createRequest } from '../../../../core/creation/create-request.ts';
import { deleteRequest } from '../../../../core/deletion/delete-requests.ts';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { providerCostsOf } from '../../../../core/ending/end-rules.ts';
import { failedBeforeStoring } from '../../../../core/ending/failed.ts';
import { settled } from '../../../../core/ending/settled.ts';
import type { RouteCosts } from '../../../../core/models/model-settings.ts';
import type { AttemptOutcome } from '../../../../core/provider-calls/provider-attempts.ts';
import { accountKey, providerAttemptKey, requestKey } from '../../../../core/table/keys.ts';
import { type CostDimension, costsOf, totalCosts } from '../../../../ops/costs.ts';
import { ACCOUNT_ID, anAccount, anAttempt, anImageRequest, aVideoRequest } from '../../builders/entities.ts';
import { anImageSubmission, aVideoSubmission } from '../../builders/submissions.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { clock, FAILURE, outputs } from './an-ending.ts';

Object.assign(process.env, { OUTPUT_TTL_SECONDS: '3600' });
const ROUTE = 'modelstudio/qwen-image';
const VIDEO_ROUTE = 'modelstudio/wan-video';
const COSTS: RouteCosts = {
  [ROUTE]: {
    perImage: [
      { maxPixels: 1_048_576, xTokens: 1 },
      { maxPixels: null, xTokens: 1.5 },
    ],
  },
  [VIDEO_ROUTE]: { perSecond: { '480p': 1, '720p': 2, '1080p': 2.5 } },
  'other/upstream': { perImage: [{ maxPixels: null, xTokens: 9 }] },
};
const facts = (routeCosts?: RouteCosts) => ({
  endUser: undefined,
  settings: undefined,
  credentials: new Set(['modelstudio'] as const),
  ...(routeCosts && { routeCosts }),
  pausedSeconds: undefined,
  idempotencyRecord: undefined,
});
const done = (urls: number, usage?: object): AttemptOutcome => ({
  kind: 'done',
  outputs: Array.from({ length: urls }, (_, index) => ({ url: `https://example.com/${index}` })),
  ...(usage && { usage }),
});
const made = (outcome: AttemptOutcome, route = ROUTE) => {
  const [provider = '', upstreamModel = ''] = route.split('/');
  return { provider, upstreamModel, outcome };
};

describe('a creation', () => {
  test('keeps what an image of its size costs by the route of its model, and by no other', async () => {
    const { request } = await createRequest(anAccount(), anImageSubmission({ n: 2 }), facts(COSTS));

    expect(memory.get(requestKey(request.requestId))).toMatchObject({ routeCosts: { [ROUTE]: 1_500 } });
  });

  test('keeps what a second of its resolution costs', async () => {
    const submission = aVideoSubmission({ model: 'xW3.0s', resolution: '720p', durationSec: 2 });
    const { request } = await createRequest(anAccount(), submission, facts(COSTS));

    expect(memory.get(requestKey(request.requestId))).toMatchObject({ routeCosts: { [VIDEO_ROUTE]: 2_000 } });
  });

  test.each<[string, RouteCosts | undefined]>([
    ['no route has a cost', undefined],
    ['its route has none', { 'other/upstream': COSTS['other/upstream'] as never }],
    ['the cost is of videos', { [ROUTE]: COSTS[VIDEO_ROUTE] as never }],
  ])('has nothing more where %s', async (_, costs) => {
    const { request } = await createRequest(anAccount(), anImageSubmission({}), facts(costs));

    expect(memory.get(requestKey(request.requestId))).not.toHaveProperty('routeCosts');
  });
});

test.each<[string, RouteCosts]>([
  ['has none for its resolution', { [VIDEO_ROUTE]: { perSecond: { '480p': 1 } } }],
  ['is of images', { [VIDEO_ROUTE]: COSTS['other/upstream'] as never }],
])('a video has no cost where that of its route %s', async (_, costs) => {
  const submission = aVideoSubmission({ model: 'xW3.0s', resolution: '720p', durationSec: 2 });
  const { request } = await createRequest(anAccount(), submission, facts(costs));

  expect(memory.get(requestKey(request.requestId))).not.toHaveProperty('routeCosts');
});

describe('what the calls of a request cost', () => {
  const image = anImageRequest({ images: 3, routeCosts: { [ROUTE]: 1_500 } });
  const video = aVideoRequest({ durationSec: 5, billedSeconds: 8, routeCosts: { [VIDEO_ROUTE]: 2_000 } });

  test('is that of each image made, and of those that the provider reports', () => {
    const calls = [
      made(done(1, { images: 1 })),
      made(done(1, { images: 2 })),
      made({ kind: 'failed', failure: FAILURE }),
    ];

    expect(providerCostsOf(image, calls)).toEqual([
      { route: ROUTE, costThousandths: 3_000, reportedThousandths: 4_500 },
    ]);
    expect(providerCostsOf(image, [...calls, made(done(1))])).toEqual([
      { route: ROUTE, costThousandths: 4_500 },
    ]);
  });

  test('is that of the billed seconds, and of the reported ones, rounded to thousandths', () => {
    const usage = { outputSeconds: 5.0417, inputSeconds: 2 };
    expect(providerCostsOf(video, [made(done(1, usage), VIDEO_ROUTE)])).toEqual([
      { route: VIDEO_ROUTE, costThousandths: 16_000, reportedThousandths: 14_083 },
    ]);
  });

  test('is nothing without a finished call, not known by another route, and absent where no cost was set', () => {
    expect(providerCostsOf(image, [made({ kind: 'failed', failure: FAILURE })])).toEqual([]);
    expect(providerCostsOf(image, [made(done(1), 'fal/other')])).toEqual([{ route: 'fal/other' }]);
    expect(providerCostsOf(anImageRequest(), [made(done(1))])).toBeUndefined();
  });
});

describe('the costs of an account', () => {
  const create = async (n = 1, costs: RouteCosts | undefined = COSTS) => {
    const account = memory.get(accountKey(ACCOUNT_ID)) as ReturnType<typeof anAccount>;
    const { request } = await createRequest(account, anImageSubmission({ n }), facts(costs));
    return request.requestId;
  };
  const end = async (requestId: string, { produced, stored }: { produced: number; stored: number }) => {
    const attempt = anAttempt({ requestId, ...made(done(produced, { images: produced })) });
    memory.put(providerAttemptKey(requestId, 0, 0), attempt);
    const all = outputs(stored, produced - stored);
    memory.patch(requestKey(requestId), { status: 'processing', outputs: all });
    await endRequest(requestId, settled, { clock });
  };
  const costs = async (by: CostDimension[]) => {
    const { ledgerEntries = 0 } = memory.get(accountKey(ACCOUNT_ID)) as { ledgerEntries?: number };
    const range = { from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' };
    return costsOf({ accountId: ACCOUNT_ID, ledgerEntries }, { ...range, by });
  };
  const fresh = () => memory.put(accountKey(ACCOUNT_ID), anAccount({ ledgerEntries: 0 }));

  test('are those of all calls that made something, also of outputs that were lost and of deleted requests', async () => {
    fresh();
    const whole = await create(2);
    await end(whole, { produced: 2, stored: 2 });
    await end(await create(2), { produced: 2, stored: 1 });
    await endRequest(await create(), failedBeforeStoring(FAILURE), { clock });
    const expected = {
      ...{ model: 'xQI3Pro', requests: 2, withoutCost: 0, netThousandths: 18_000, costThousandths: 6_000 },
      ...{ comparedThousandths: 6_000, reportedThousandths: 6_000, marginThousandths: 12_000 },
    };

    expect(await costs(['model', 'route'])).toEqual([
      { ...expected, route: ROUTE },
      expect.objectContaining({
        ...{ route: null, requests: 1, netThousandths: 0, costThousandths: 0, withoutCost: 0 },
      }),
    ]);

    await deleteRequest(ACCOUNT_ID, whole, clock.now());
    expect(await costs(['model', 'route'])).toContainEqual({ ...expected, route: ROUTE });
  });

  test('leave out what is not known, and say of how many requests', async () => {
    fresh();
    await end(await create(1, {}), { produced: 1, stored: 1 });
    await create();

    expect(await costs([])).toEqual([
      expect.objectContaining({
        ...{ requests: 2, withoutCost: 2, netThousandths: 12_000, costThousandths: 0, marginThousandths: 0 },
      }),
    ]);
  });

  test('add up to all, whatever they are told by', async () => {
    fresh();
    await end(await create(2), { produced: 2, stored: 2 });
    await create();

    const all = totalCosts(await costs([]));
    for (const by of [['day'], ['model'], ['route', 'day']] as CostDimension[][])
      expect(totalCosts(await costs(by))).toEqual(all);
    expect(all).toMatchObject({ requests: 2, netThousandths: 18_000 });
  });
});
