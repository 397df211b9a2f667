import { expect, test } from '@jest/globals';
import {
  accepted,
  eventually,
  newCaller,
  send,
  settled,
  sharedService,
  unique,
} from '../contract/support/client.ts';
import { ops, runOps } from '../contract/support/local-service.ts';
import { uniqueEmail } from '../contract/support/resources.ts';

const CACHED_MS = 6_000;

test('the cost of a route gives the margin of the requests created from then on, also of deleted ones', async () => {
  const service = await sharedService();
  const caller = await newCaller(service, 1_000);
  const { accountId } = caller;
  const routes = await ops<{ route: string; cost: unknown }[]>(service, 'routes', 'costs');
  const { route = '' } = routes.find((one) => one.route.endsWith('/qwen-image-3.0-pro')) ?? {};
  const perImage = [{ maxPixels: null, xTokens: 1.5 }];
  const value = JSON.stringify(perImage);
  const create = async (prompt: string): Promise<string> => {
    const { requestId } = await accepted(caller, {
      ...{ model: 'xQI3Pro', size: '1K', n: 2, prompt, endUserEmail: uniqueEmail() },
    });
    await settled(caller, requestId);
    return requestId;
  };
  const costs = () =>
    ops<{ items: object[]; total: object }>(service, 'usage', 'costs', accountId, '--by', 'model,route');

  await create(unique());
  expect(await ops(service, 'routes', 'set-cost', route, '--value', value)).toEqual({
    route,
    cost: { perImage },
  });
  expect(await ops(service, 'routes', 'costs')).toContainEqual({ route, cost: { perImage } });
  // Each process of a function knows the costs of up to 5 s ago: after that, all know the new one.
  const setAt = Date.now();
  const shown: unknown[] = [];
  const requestId = await eventually(
    async () => {
      const made = await create(unique());
      shown.push((await ops<{ providerCosts?: object[] }>(service, 'requests', 'show', made)).providerCosts);
      return made;
    },
    () => shown.at(-1) !== undefined && Date.now() - setAt > CACHED_MS,
  );
  const known = shown.filter((costs) => costs !== undefined);
  expect(known).toEqual(known.map(() => [{ route, cost: 3, reported: 3 }]));
  const before = 1 + shown.length - known.length;
  await create(unique('[fail=content_policy]'));
  const deleted = await send(service, 'DELETE', `/v1/generations/${requestId}`, {
    headers: { authorization: `Bearer ${caller.key}` },
  });
  expect(deleted.status).toBe(200);

  const { items, total } = await costs();
  const { length } = known;
  const cost = 3 * length;
  const sums = { cost, counted: cost, reported: cost, margin: 5 * length };
  expect(items).toContainEqual({
    ...{ model: 'xQI3Pro', route, requests: length, withoutCost: 0, xTokens: 8 * length },
    ...sums,
  });
  const xTokens = 8 * (before + length);
  expect(total).toEqual({ requests: before + length + 1, withoutCost: before, xTokens, ...sums });
  const usage = await ops<{ total: { xTokens: number } }>(service, 'usage', 'show', accountId);
  expect(usage.total.xTokens).toBe(xTokens);
  expect(await ops(service, 'routes', 'set-cost', route, '--none')).toEqual({ route, cost: null });
});

test.each<[number, ...string[]]>([
  [2, 'modelstudio/qwen-image-3.0-pro'],
  [2, 'modelstudio/qwen-image-3.0-pro', '--value', '{"perSecond":{"720p":1}}'],
  [2, 'modelstudio/qwen-image-3.0-pro', '--none', '--value', '[{"maxPixels":null,"xTokens":1}]'],
  [1, 'nobody/nothing', '--value', '[{"maxPixels":null,"xTokens":1}]'],
])('routes set-cost exits with %s for %s %s %s', async (status, ...args) => {
  const { code } = await runOps(await sharedService(), 'routes', 'set-cost', ...args);
  expect(code).toBe(status);
});
