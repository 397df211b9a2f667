import { describe, expect, test } from '@jest/globals';
import {
  accepted,
  becomes,
  type Caller,
  eventually,
  newCaller,
  read,
  settled,
  unique,
} from '../contract/support/client.ts';
import { ops } from '../contract/support/local-service.ts';
import { useOwnRun } from './own-run.ts';

const MAX_RUNNING = 2;
/** Requests of one account that wait at once. */
const WAITING = 10;
const TOPPED_UP = 10_000;

const { service, proxy } = useOwnRun({
  proxied: ['modelArkBaseUrl'],
  context: {
    // The provider refuses what the service should not have sent.
    ...{ maxRunning: MAX_RUNNING, sandboxMaxRunning: MAX_RUNNING },
    modelRoutes: JSON.stringify({
      'xSD4.5': { provider: 'modelark', upstreamModel: 'seedream-4-5-251128' },
      xSD5Pro: { provider: 'modelark', upstreamModel: 'dola-seedream-5-0-pro-260628', maxRunning: 1 },
      'xW3.0sPro': { provider: 'modelark', upstreamModel: 'sandbox-xw3-pro', maxRunning: 1 },
    }),
  },
});

interface RouteRow {
  model: string;
  running: number | null;
  maxRunning: number | null;
  waiting: number | null;
  oldestWaitingSeconds: number | null;
}
const routeOf = async (model: string): Promise<RouteRow | undefined> =>
  (await ops<RouteRow[]>(service, 'routes', 'list')).find((route) => route.model === model);

/** A mark of prompts whose calls the provider gets once they are released. */
const HELD = 'held';

/** The prompts of the creations that reached the provider, in order, and the most of them at once. */
const watch = () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const seen = { prompts: [] as string[], atOnce: 0, most: 0, release };
  proxy.stop = async (request, response) => {
    if (!request.path.endsWith('/images/generations')) return false;
    const prompt = String((request.body as { prompt: string }).prompt);
    seen.prompts.push(prompt);
    seen.most = Math.max(seen.most, ++seen.atOnce);
    response.once('close', () => seen.atOnce--);
    if (prompt.includes(HELD)) await released;
    return false;
  };
  return seen;
};

describe('A route of two running calls', () => {
  test('serves what is too much for it in order, one account not behind the backlog of another, and loses nothing', async () => {
    const [many, single] = await Promise.all([newCaller(service, TOPPED_UP), newCaller(service, TOPPED_UP)]);
    const seen = watch();
    const create = async (caller: Caller, mark: string) => {
      const prompt = unique(`[delay=1] ${mark}`);
      return (await accepted(caller, { model: 'xSD4.5', prompt })).requestId;
    };
    const backlog = [await create(many, HELD), await create(many, HELD)];
    await eventually(
      () => Promise.resolve(seen.prompts.length),
      (count) => count === MAX_RUNNING,
    );
    for (let index = 0; index < WAITING; index++) backlog.push(await create(many, `many-${index}-`));
    const alone = await create(single, 'single');
    const full = await eventually(
      () => routeOf('xSD4.5'),
      (route) => route?.waiting === WAITING + 1,
    );
    expect(full).toMatchObject({ running: MAX_RUNNING, maxRunning: MAX_RUNNING });
    seen.release();

    const records = await Promise.all([...backlog.map((id) => settled(many, id)), settled(single, alone)]);

    expect(new Set(records.map(({ status }) => status))).toEqual(new Set(['succeeded']));
    expect(seen.most).toBe(MAX_RUNNING);
    expect(seen.prompts).toHaveLength(MAX_RUNNING + WAITING + 1);
    // One finishing admits it. Two that are admitted at about the same time may reach the provider either way.
    const turn = seen.prompts.findIndex((prompt) => prompt.includes('single'));
    expect(turn).toBeLessThanOrEqual(MAX_RUNNING + 1);
    const order = seen.prompts.flatMap((prompt) => /many-(\d+)-/.exec(prompt)?.[1] ?? []).map(Number);
    expect(order).toHaveLength(WAITING);
    for (const [place, index] of order.entries()) expect(Math.abs(place - index)).toBeLessThanOrEqual(1);
    await becomes(
      () => routeOf('xSD4.5'),
      expect.objectContaining({ running: 0, waiting: 0, oldestWaitingSeconds: null }),
    );
  });
});

test('A request that waits for capacity stays queued, and its deadline counts from its call', async () => {
  const caller = await newCaller(service, TOPPED_UP);
  const { release } = watch();
  const first = await accepted(caller, { model: 'xSD5Pro', prompt: unique(HELD) });
  await eventually(
    () => read(caller, first.requestId),
    ({ status }) => status === 'processing',
  );
  const second = await accepted(caller, { model: 'xSD5Pro', prompt: unique('[delay=0]') });
  const waiting = await eventually(
    () => routeOf('xSD5Pro'),
    (route) => route?.waiting === 1,
  );

  expect(waiting).toMatchObject({ running: 1, maxRunning: 1, waiting: 1 });
  expect(await read(caller, second.requestId)).toMatchObject({ status: 'queued' });
  release();
  const [done, next] = [await settled(caller, first.requestId), await settled(caller, second.requestId)];
  expect([done.status, next.status]).toEqual(['succeeded', 'succeeded']);
  const story = await ops<{ spans: { kind: string; label: string }[] }>(
    service,
    ...['requests', 'show', '--id', second.requestId],
  );
  expect(story.spans).toContainEqual(
    expect.objectContaining({ kind: 'capacity-wait', label: 'waiting in the queue' }),
  );
});
