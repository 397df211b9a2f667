import { expect, test } from '@jest/globals';
import { accepted, eventually, newCaller, send, settled, sharedService, unique } from './support/client.ts';
import { ops, runOps } from './support/local-service.ts';
import { uniqueEmail } from './support/resources.ts';

test('the cost of a route gives the margin of the requests created from then on, also of deleted ones', async () => {
  const service = await sharedService();
  const caller = await newCaller(service, 100);
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
  // A creation knows costs that are 5 s old.
  let before = 1;
  const { requestId, shown } = await eventually(
    async () => {
      const made = await create(unique());
      before += 1;
      const report = await ops<{ providerCosts?: object[] }>(service, 'requests', 'show', made);
      return { requestId: made, shown: report.providerCosts };
    },
    ({ shown: known }) => known !== undefined,
  );
  before -= 1;
  expect(shown).toEqual([{ route, cost: 3, reported: 3 }]);
  await create(unique('[fail=content_policy]'));
  const deleted = await send(service, 'DELETE', `/v1/generations/${requestId}`, {
    headers: { authorization: `Bearer ${caller.key}` },
  });
  expect(deleted.status).toBe(200);

  const { items, total } = await costs();
  const sums = { cost: 3, counted: 3, reported: 3, margin: 5 };
  expect(items).toContainEqual({ model: 'xQI3Pro', route, requests: 1, withoutCost: 0, xTokens: 8, ...sums });
  const xTokens = 8 * (before + 1);
  expect(total).toEqual({ requests: before + 2, withoutCost: before, xTokens, ...sums });
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
