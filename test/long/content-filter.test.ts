import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from '../contract/support/answers.ts';
import { itemsNaming } from '../contract/support/aws.ts';
import {
  type AnyRecord,
  aGeneration,
  type Caller,
  callerWith,
  newCaller,
  setLimits,
  settled,
  sharedService,
  unique,
} from '../contract/support/client.ts';
import { balance, entriesOf, expectUnbrokenChain, history } from '../contract/support/ledger.ts';
import { type LocalService, ops } from '../contract/support/local-service.ts';
import { endUserOf, endUserPath, failed, remove, uniqueEmail } from '../contract/support/resources.ts';
import { aVideo, createVideo } from '../contract/support/videos.ts';

const BLOCK = '[guardrail=block]';
const MASK = '[guardrail=mask]';

let service: LocalService;
let caller: Caller;
beforeAll(async () => {
  service = await sharedService('filtered');
  caller = await newCaller(service);
});

const create = (body: Record<string, unknown>, by = caller, headers: Record<string, string> = {}) =>
  by.post<AnyRecord>('/v1/generations', aGeneration({ size: '512x512', ...body }), headers);

describe('A prompt the content filter blocks', () => {
  test('is refused with 422 content_policy, without a debit or a write', async () => {
    const endUserEmail = uniqueEmail();
    const before = { balance: (await caller.get('/v1/balance')).body, entries: await history(caller) };

    const answer = await create({ endUserEmail, prompt: unique(BLOCK) });

    expect(refusal(answer)).toEqual([422, 'content_policy']);
    expect({ balance: (await caller.get('/v1/balance')).body, entries: await history(caller) }).toEqual(
      before,
    );
    expect(await endUserOf(caller, endUserEmail)).toBeUndefined();
    expect(await itemsNaming(service, endUserEmail)).toEqual([]);
  });

  test('does not consume its Idempotency-Key', async () => {
    const headers = { 'idempotency-key': `key ${Math.random()}` };
    expect((await create({ prompt: unique(BLOCK) }, caller, headers)).status).toBe(422);

    const answer = await create({ prompt: unique('[fail=content_policy]') }, caller, headers);

    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([202, null]);
  });
});

test('A prompt of a video is judged like that of an image', async () => {
  const answer = await createVideo(caller, aVideo({ prompt: unique(BLOCK) }));

  expect(refusal(answer)).toEqual([422, 'content_policy']);
});

test('A prompt the content filter would only mask is accepted', async () => {
  const { status, body } = await create({ prompt: unique(MASK) });

  expect(status).toBe(202);
  expect((await settled(caller, body.requestId)).status).toBe('succeeded');
});

test('Any other prompt is accepted', async () => {
  const { status, body } = await create({ prompt: unique('[guardrail=none]') });

  expect(status).toBe(202);
  expect((await settled(caller, body.requestId)).status).toBe('succeeded');
});

test("A refusal by the provider's own filter fails the request with content_policy and refunds it", async () => {
  const { requestId, status, error } = await failed(caller);

  expect([status, error?.code]).toEqual(['failed', 'content_policy']);
  expect(await entriesOf(caller, requestId)).toEqual([
    ['refund', 1],
    ['generation', 1],
  ]);
});

test.each([
  ['[fail=provider_error]', 'provider_error'],
  ['[broken=all]', 'internal_error'],
])('Other provider failures have other codes: %s gives %s', async (directive, code) => {
  const { body } = await create({ prompt: unique(directive) });

  expect((await settled(caller, body.requestId)).error?.code).toBe(code);
});

test('Without a content filter every prompt is accepted', async () => {
  const elsewhere = await newCaller(await sharedService());

  const { status, body } = await create({ prompt: unique(BLOCK) }, elsewhere);

  expect(status).toBe(202);
  expect((await settled(elsewhere, body.requestId)).status).toBe('succeeded');
});

describe('Refusals have a fixed order, and each ends with its cause', () => {
  const email = uniqueEmail();
  let full: Caller;
  /** A key that may only read models. */
  let scopeless: Caller;
  const invalid = { n: 0, prompt: unique(BLOCK), endUserEmail: email };
  const valid = { prompt: unique(BLOCK), endUserEmail: email };

  const account = (verb: string) => ops(service, 'accounts', verb, '--account', full.accountId);
  const refused = async (body: Record<string, unknown>, by = full) => refusal(await create(body, by));

  beforeAll(async () => {
    full = await newCaller(service, 1);
    const { key } = await ops<{ key: string }>(
      service,
      ...['keys', 'create', '--account', full.accountId, '--scopes', 'models:read'],
    );
    scopeless = callerWith(service, full.accountId, key);
    // Every cause at once: the end-user is paused and blocked, the balance is zero, the rate limit's bucket is
    // empty and the account is blocked.
    const { body } = await create({ endUserEmail: email, prompt: unique('[fail=timeout]') }, full);
    expect((await settled(full, body.requestId)).error?.code).toBe('provider_timeout');
    await full.post(`${endUserPath(email)}/block`, undefined);
    await ops(service, 'balance', 'adjust', '--account', full.accountId, '--amount=-1');
    await setLimits(full, 0.001, 1);
    expect(await refusal(await create(invalid, scopeless))).toEqual([403, 'forbidden']);
    expect((await full.get('/v1/balance')).body.xTokens).toBe(0);
    await account('block');
  });

  test('401 unauthorized', async () => {
    const mistyped = callerWith(service, full.accountId, `${full.key}0`);

    expect(await refused(invalid, mistyped)).toEqual([401, 'unauthorized']);
  });

  test('401 account_blocked', async () => {
    expect(await refused(invalid, scopeless)).toEqual([401, 'account_blocked']);
    expect(await refused(invalid)).toEqual([401, 'account_blocked']);
    await account('unblock');
  });

  test('403 forbidden for the scope', async () => {
    expect(await refused(invalid, scopeless)).toEqual([403, 'forbidden']);
  });

  test('429 rate_limited', async () => {
    expect(await refused(invalid)).toEqual([429, 'rate_limited']);
    await setLimits(full, 1000, 1000);
  });

  test('400 validation_error', async () => {
    expect(await refused(invalid)).toEqual([400, 'validation_error']);
  });

  test('403 forbidden for the blocked end-user', async () => {
    expect(await refused(valid)).toEqual([403, 'forbidden']);
    await full.post(`${endUserPath(email)}/unblock`, undefined);
  });

  test('503 temporarily_unavailable', async () => {
    expect(await refused(valid)).toEqual([503, 'temporarily_unavailable']);
    await remove(full, endUserPath(email));
  });

  test('402 payment_required', async () => {
    expect(await refused(valid)).toEqual([402, 'payment_required']);
    await ops(service, 'balance', 'topup', '--account', full.accountId, '--amount', '1');
  });

  test('422 content_policy, and without any of them it is accepted', async () => {
    expect(await refused(valid)).toEqual([422, 'content_policy']);
    const clean = { ...valid, prompt: unique('[fail=content_policy]') };

    const { status, body } = await create(clean, full);

    expect(status).toBe(202);
    await settled(full, body.requestId);
    expect(await balance(full)).toBe(1);
    await expectUnbrokenChain(full);
  });
});
