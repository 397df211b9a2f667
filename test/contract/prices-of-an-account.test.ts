import { expect, test } from '@jest/globals';
import { accepted, newCaller, settled, sharedService, unique } from './support/client.ts';
import { ops, runOps } from './support/local-service.ts';
import { uniqueEmail } from './support/resources.ts';

test('an account pays its own price from the next creation on, and the general one again without', async () => {
  const service = await sharedService();
  const caller = await newCaller(service, 100);
  const { accountId } = caller;
  const create = async (): Promise<unknown> => {
    const body = { model: 'xZI1.0Pro', size: '1K', prompt: unique(), endUserEmail: uniqueEmail() };
    const { requestId } = await accepted(caller, body);
    return (await settled(caller, requestId)).cost;
  };
  const set = (...args: string[]) =>
    ops<object>(service, 'rates', 'set', 'xZI1.0Pro', '--account', accountId, ...args);
  const general = await ops<object>(service, 'rates', 'show', 'xZI1.0Pro');
  const perImage = [
    { maxPixels: 1_048_576, xTokens: 0.25 },
    { maxPixels: null, xTokens: 0.5 },
  ];

  expect(await set('--factor', '0.5')).toEqual({
    ...{ model: 'xZI1.0Pro', billing: 'per_image', source: 'factor 0.5' },
    perImage: [
      { maxPixels: 1_048_576, xTokens: 0.5 },
      { maxPixels: null, xTokens: 1 },
    ],
  });
  expect(await create()).toBe(0.5);
  expect(await set('--value', JSON.stringify(perImage))).toMatchObject({ perImage, source: 'own' });
  expect(await create()).toBe(0.25);
  expect(await ops(service, 'rates', 'list', '--account', accountId)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ model: 'xZI1.0Pro', perImage, source: 'own' }),
      expect.objectContaining({ model: 'xSD4.5', source: 'general' }),
    ]),
  );
  expect(await ops(service, 'rates', 'show', 'xZI1.0Pro')).toEqual(general);
  type Change = { action: string; detail: string };
  const audit = await ops<Change[]>(service, 'audit', 'list', '--account', accountId);
  expect(audit.filter(({ action }) => action === 'rates set').map(({ detail }) => detail)).toEqual([
    JSON.stringify({ perImage }),
    'factor 0.5',
  ]);

  expect(await set('--none')).toEqual({ ...general, source: 'general' });
  expect(await create()).toBe(1);
});

test.each([
  ['--factor', '0.5'],
  ['--account', 'acc_01J', '--factor', '0'],
  ['--account', 'acc_01J', '--factor', '100.001'],
  ['--account', 'acc_01J', '--factor', '0.5', '--none'],
  ['--account', 'acc_01J'],
  ['--none'],
])('rates set refuses %s %s %s %s', async (...args) => {
  const { code } = await runOps(await sharedService(), 'rates', 'set', 'xQI3Pro', ...args);
  expect(code).toBe(2);
});
