import { describe, expect, test } from '@jest/globals';
import { refusal, wrongFields } from './support/answers.ts';
import { type AnyRecord, aGeneration, anUndrawnGeneration, settled } from './support/client.ts';
import { entriesOf, expectUnbrokenChain, history } from './support/ledger.ts';
import { endUserOf, remove, uniqueEmail } from './support/resources.ts';
import { useCaller } from './support/use-caller.ts';

const caller = useCaller();

const uniqueKey = () => `key ${Math.random()}`;
const create = (key: string, body: unknown) =>
  caller.post<AnyRecord>('/v1/generations', body, { 'idempotency-key': key });
const isReplayed = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed');

// Other bodies, keys and accounts are tested in test/unit/core/creation/create-request-replays.test.ts.
describe('A creation with an Idempotency-Key', () => {
  test('sent ten times at once creates one request and one debit', async () => {
    const email = uniqueEmail();
    const body = anUndrawnGeneration({ endUserEmail: email });
    const key = uniqueKey();

    const answers = await Promise.all(Array.from({ length: 10 }, () => create(key, body)));

    const first = answers.find((answer) => isReplayed(answer) === null);
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(202));
    expect(answers.map((answer) => answer.body)).toEqual(Array(10).fill(first?.body));
    expect(answers.map(isReplayed).sort()).toEqual([null, ...Array(9).fill('true')].sort());
    for (const { headers, body: record } of answers) {
      expect(headers.get('location')).toBe(record.pollUrl);
      expect(headers.get('retry-after')).toBe('5');
    }
    const requestId = first?.body.requestId ?? '';
    await settled(caller, requestId);
    expect((await history(caller)).filter(({ reference }) => reference === requestId)).toHaveLength(2);
    expect(await endUserOf(caller, email)).toMatchObject({ totalRequests: 1 });
    await expectUnbrokenChain(caller);
  });

  test('is answered with the first 202 again after the request has ended', async () => {
    const body = aGeneration({ size: '512x512' });
    const key = uniqueKey();
    const first = await create(key, body);
    expect(isReplayed(first)).toBeNull();
    await settled(caller, first.body.requestId);
    const before = await history(caller);

    const again = await create(key, body);

    expect([again.status, again.body, isReplayed(again)]).toEqual([202, first.body, 'true']);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(await history(caller)).toEqual(before);
    expect(await entriesOf(caller, first.body.requestId)).toEqual([['generation', 1]]);
  });

  test('is 409 after its request was deleted, and creates no other', async () => {
    const key = uniqueKey();
    const body = anUndrawnGeneration();
    const { requestId } = (await create(key, body)).body;
    await settled(caller, requestId);
    await remove(caller, `/v1/generations/${requestId}`);
    const before = await history(caller);

    expect(refusal(await create(key, body))).toEqual([409, 'conflict']);

    expect(await history(caller)).toEqual(before);
  });
});

describe('A key', () => {
  test.each(['', 'x'.repeat(256), 'cl\u00e9'])('that is %j is refused by name', async (key) => {
    expect(wrongFields(await create(key, anUndrawnGeneration()))).toEqual(['Idempotency-Key']);
  });

  test.each([
    ['{"references":', '[', ']'],
    ['{"sequentialOptions":', '{"a":', '}'],
  ])('with a deeply nested body does not crash: %s', async (start, open, close) => {
    const depth = 20_000;
    const body = `${start}${open.repeat(depth)}1${close.repeat(depth)}}`;

    expect((await create(uniqueKey(), body)).status).toBe(400);
    expect((await caller.post('/v1/generations', body)).status).toBe(400);
  });
});
