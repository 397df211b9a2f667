import { expect, test } from '@jest/globals';
import { accepted, newCaller, send, settled, sharedService, unique } from './support/client.ts';
import { ops } from './support/local-service.ts';
import { endUserPath, uniqueEmail } from './support/resources.ts';

interface Shown {
  email: string;
  perDay: number | null;
  perMonth: number | null;
  spentToday: number;
  spentThisMonth: number;
}

const newEndUser = async () => {
  const caller = await newCaller(await sharedService(), 200);
  const endUserEmail = uniqueEmail();
  const path = `${endUserPath(endUserEmail)}/budget`;
  const put = (body: object) =>
    send<Shown>(caller.service, 'PUT', path, { headers: { authorization: `Bearer ${caller.key}` }, body });
  const get = async () => (await caller.get<Shown>(path)).body;
  const create = (prompt = unique()) =>
    caller.post<{ error?: { message: string } }>('/v1/generations', {
      ...{ model: 'xSD4.5', prompt, endUserEmail },
    });
  return { caller, endUserEmail, put, get, create };
};

test('the budget of an end-user is judged at each creation, and gets refunds back', async () => {
  const { caller, endUserEmail, put, get, create } = await newEndUser();
  expect((await put({ perDay: 1 })).status).toBe(404);
  const first = await accepted(caller, { model: 'xSD4.5', prompt: unique(), endUserEmail });
  await settled(caller, first.requestId);
  const { spentToday: price } = await get();
  expect(price).toBeGreaterThan(0);

  const set = await put({ perDay: 3 * price });
  expect(set).toMatchObject({
    status: 200,
    body: {
      email: endUserEmail,
      perDay: 3 * price,
      perMonth: null,
      spentToday: price,
      spentThisMonth: price,
    },
  });
  const failing = await accepted(caller, {
    model: 'xSD4.5',
    prompt: unique('[fail=provider_error]'),
    endUserEmail,
  });
  await settled(caller, failing.requestId);
  expect(await get()).toMatchObject({ spentToday: price });

  const answers = await Promise.all([create(), create(), create(), create()]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 202, 402, 402]);
  const refused = answers.find(({ status }) => status === 402);
  expect(refused?.body.error?.message).toMatch(
    /daily budget is .* It renews at \d{4}-\d{2}-\d{2}T00:00:00\.000Z\.$/,
  );
  expect(await get()).toMatchObject({ spentToday: 3 * price });

  expect(await put({})).toMatchObject({ status: 200, body: { perDay: null, perMonth: null } });
  expect((await create()).status).toBe(202);
});

test('ops keys set-budget limits what is created with a key', async () => {
  const { caller, create } = await newEndUser();
  const keys = await ops<{ keyId: string }[]>(caller.service, 'keys', 'list', caller.accountId);
  const { keyId = '' } = keys[0] ?? {};

  expect(await ops(caller.service, 'keys', 'set-budget', keyId, '--per-day', '0.5')).toEqual({
    ...{ keyId, perDay: 0.5, perMonth: null },
    ...{ spentToday: 0, spentThisMonth: 0 },
  });
  const refused = await create();
  expect([refused.status, refused.body.error?.message]).toEqual([
    402,
    expect.stringContaining("API key's daily budget is 0.5"),
  ]);

  await ops(caller.service, 'keys', 'set-budget', keyId, '--none');
  expect((await create()).status).toBe(202);
});
