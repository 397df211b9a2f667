import { describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { itemsNaming } from './support/aws.ts';
import { send } from './support/client.ts';
import { filled, ROUTES } from './support/routes.ts';
import { useCaller } from './support/use-caller.ts';

const caller = useCaller();

/** The key with this character replaced, counted from its end. */
const withWrong = (key: string, place: number) =>
  key.slice(0, -place) + (key.at(-place) === '0' ? '1' : '0') + (place > 1 ? key.slice(1 - place) : '');

// Every form that a header can have is tested in test/unit/functions/authorize-key.test.ts, which routes refuse in accounts-apart.test.ts.
describe('A request without a valid key is refused with 401 unauthorized', () => {
  test.each([
    ['an empty header', () => ''],
    ['another scheme', () => `Basic ${caller.key}`],
    ['two keys', () => `Bearer ${caller.key} ${caller.key}`],
    ['a wrong checksum', () => `Bearer ${withWrong(caller.key, 1)}`],
    ['a wrong secret', () => `Bearer ${withWrong(caller.key, 10)}`],
    ['a key in capitals', () => `Bearer ${caller.key.toUpperCase()}`],
  ])('%s', async (_what, authorization) => {
    const headers = { authorization: authorization() };

    expect(refusal(await send(caller.service, 'GET', '/v1/balance', { headers }))).toEqual([
      ...[401, 'unauthorized'],
    ]);
  });
});

test('A new key may use every endpoint', async () => {
  for (const { method, path } of ROUTES) {
    const headers = { authorization: `Bearer ${caller.key}` };
    const answer = await send(caller.service, method, filled(path), { headers });

    expect([200, 400, 404]).toContain(answer.status);
  }
});

test('A key has the documented format and is stored nowhere', async () => {
  expect(caller.key).toMatch(new RegExp(`^gsk_${caller.accountId}_[0-9A-Za-z]+$`));
  expect(await itemsNaming(caller.service, caller.key)).toEqual([]);
});
