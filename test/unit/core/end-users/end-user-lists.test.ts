import { BatchGetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { normalizeEmail } from '../../../../core/end-users/email-rules.ts';
import { type EndUserFilter, listEndUsers } from '../../../../core/end-users/end-user-lists.ts';
import type { EndUser } from '../../../../core/end-users/end-users.ts';
import { endUserKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anEndUser, putEndUser } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

const list = (filter: EndUserFilter = {}, page = 1, pageSize = 20) =>
  listEndUsers(ACCOUNT_ID, filter, { page, pageSize });
const emailsOf = async (filter: EndUserFilter) =>
  (await list(filter, 1, 50)).items.map(({ email }) => email).sort();
const queries = () => memory.client.commandCalls(QueryCommand).map(({ args }) => args[0].input);

const given = (email: string, overrides: Partial<EndUser> = {}): EndUser => {
  const endUser = anEndUser({ email: normalizeEmail(email), ...overrides });
  putEndUser(memory, endUser);
  return endUser;
};
/** Puts end-users created one second after another; answers them, newest first. */
const many = (count: number): EndUser[] =>
  Array.from({ length: count }, (_, index) =>
    given(`user${index}@example.com`, { createdAt: atSeconds(index).toISOString() }),
  ).reverse();

describe('a list of end-users', () => {
  test.each<[EndUserFilter, number, number]>([
    [{}, 1, 3],
    [{}, 100, 201],
    [{ blocked: false }, 1, 400],
    [{ email: 'a' }, 1, 400],
    [{ email: 'a' }, 201, 403],
  ])('by %j asks on page %p of 2 for %p keys first', async (filter, page, expected) => {
    await list(filter, page, 2);

    expect(queries().map(({ Limit }) => Limit)).toEqual([expected]);
  });

  test('reads on, four times as much each time, when too few entries of the first call match', async () => {
    const { email } = given('old@example.com', { createdAt: atSeconds(-1).toISOString() });
    many(6);
    memory.itemsPerQuery = 3;

    expect(await list({ email: 'old' }, 1, 2)).toMatchObject({ items: [{ email }], hasMore: false });
    expect(queries().map(({ Limit }) => Limit)).toEqual([400, 1_600, 6_400]);
  });

  test('leaves out end-users who were changed or removed since the index was read', async () => {
    const stays = given('stays@example.com');
    const blocked = given('blocked@example.com');
    given('gone@example.com');
    const item = (endUser: EndUser) => memory.get(endUserKey(ACCOUNT_ID, endUser.email));
    memory.client.on(BatchGetCommand).callsFakeOnce(async () => ({
      Responses: { table: [item(stays), { ...item(blocked), blockedAt: NOW.toISOString() }] },
    }));

    expect((await list({ blocked: false })).items).toStrictEqual([stays]);
  });
});

describe('end-users narrowed down', () => {
  test.each([
    ['ada', ['ada_l@example.com', 'ada%l@example.com', 'adaxl@example.com']],
    ['ADA', ['ada_l@example.com', 'ada%l@example.com', 'adaxl@example.com']],
    ['ada_l', ['ada_l@example.com']],
    ['a%l', ['ada%l@example.com']],
    ['a.*l', []],
    ['.', ['ada_l@example.com', 'ada%l@example.com', 'adaxl@example.com', 'jürgen+1@bücher.example']],
    ['ÜRG', ['jürgen+1@bücher.example']],
    ['+1@', ['jürgen+1@bücher.example']],
    ['_', ['ada_l@example.com']],
    ['#', []],
    ['#ada', []],
    ['@BÜCHER.example', ['jürgen+1@bücher.example']],
    ['', ['ada_l@example.com', 'ada%l@example.com', 'adaxl@example.com', 'jürgen+1@bücher.example']],
    ['end_user#', []],
    ['acc_', []],
    ['ada ', []],
  ])('by the part %j of the address are %j', async (email, expected) => {
    for (const each of [
      'Ada_L@example.com',
      'ada%l@example.com',
      'adaxl@example.com',
      'Jürgen+1@Bücher.example',
    ]) {
      given(each);
    }

    expect(await emailsOf({ email })).toEqual([...expected].sort());
  });

  test.each(['_', 'e'])(
    'by the part %j, which the key has or could have beside the address, begin a late page in the right place',
    async (part) => {
      const all = Array.from({ length: 900 }, (_, index) =>
        given(`${index % 2 === 0 ? 'x_' : 'x-'}${index}@example.com`, {
          createdAt: atSeconds(index).toISOString(),
        }),
      ).reverse();
      const matching = all.filter(({ email }) => email.includes(part));

      expect((await list({ email: part }, 22, 20)).items).toEqual(matching.slice(420, 440));
    },
  );

  test('by both, on any page, are those that match one by one', async () => {
    const anEmail = fc
      .tuple(
        fc.string({ unit: fc.constantFrom('a', 'B', '_', '%', 'é'), minLength: 1, maxLength: 3 }),
        fc.nat(99),
      )
      .map(([local, number]) => normalizeEmail(`${local}${number}@example.com`));
    const users = fc.uniqueArray(fc.record({ email: anEmail, second: fc.nat(5), isBlocked: fc.boolean() }), {
      maxLength: 15,
      selector: ({ email }) => email,
    });
    const filter = fc.record({
      blocked: fc.constantFrom(undefined, true, false),
      email: fc.constantFrom(undefined, 'a', 'A', 'b', '_', '%', 'É', '1', 'a1@'),
    });
    await fc.assert(
      fc.asyncProperty(users, filter, fc.integer({ min: 1, max: 4 }), async (people, wanted, pageSize) => {
        memory.reset();
        memory.itemsPerQuery = 4;
        // Neither is of the account, nor an end-user.
        given('a1@example.com', { accountId: 'acc_01JD4KXQ8M0000000000000009' });
        memory.put({ PK: `USERS#${ACCOUNT_ID}`, SK: 'PAUSE#a1@example.com#xQI3Pro' }, { until: 'x' });
        const all = people.map(({ email, second, isBlocked }) =>
          given(email, {
            createdAt: atSeconds(second).toISOString(),
            ...(isBlocked ? { blockedAt: NOW.toISOString() } : {}),
          }),
        );
        const expected = all
          .filter(
            ({ blockedAt }) => wanted.blocked === undefined || wanted.blocked === (blockedAt !== undefined),
          )
          .filter(({ email }) => email.includes((wanted.email ?? '').toLowerCase()))
          .sort((a, b) => (`${a.createdAt}#${a.email}` > `${b.createdAt}#${b.email}` ? -1 : 1));
        const pages = Math.ceil(expected.length / pageSize);

        for (let page = 1; page <= pages + 1; page++) {
          const found = await list(wanted, page, pageSize);

          expect(found.items).toEqual(expected.slice((page - 1) * pageSize, page * pageSize));
          expect(found.hasMore).toBe(page < pages);
        }
      }),
      { numRuns: 150 },
    );
  });
});
