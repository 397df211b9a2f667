import { ApplyGuardrailCommand, BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import type { Account } from '../../../core/accounts/accounts.ts';
import type { Scope } from '../../../core/accounts/api-keys.ts';
import { pauseKey, requestKey } from '../../../core/table/keys.ts';
import { handler } from '../../../functions/api/create-generation.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { aGenerationBody } from '../builders/bodies.ts';
import { aCaller } from '../builders/callers.ts';
import { NOW } from '../builders/clocks.ts';
import { ACCOUNT_ID, anEndUser, EMAIL, putEndUser } from '../builders/entities.ts';
import { withEnvironment } from '../builders/environment.ts';
import { RouteWorld } from '../builders/route-world.ts';
import { stopTime } from '../builders/stop-time.ts';

const world = new RouteWorld();
const { memory, executions } = world;
const bedrock = mockClient(BedrockRuntimeClient);
beforeEach(() => {
  world.reset();
  bedrock.reset();
  bedrock.on(ApplyGuardrailCommand).resolves({ action: 'NONE', assessments: [] } as never);
});

/** One thing that can be wrong with a creation. */
interface Situation {
  key?: 'absent';
  account?: Partial<Account>;
  scopes?: Scope[];
  isExhausted?: boolean;
  body?: Record<string, unknown>;
}

const pause = () =>
  memory.put(pauseKey({ accountId: ACCOUNT_ID, email: EMAIL, model: 'xQI3Pro' }), {
    until: new Date(world.now.getTime() + 61_500).toISOString(),
  });
const block = () => putEndUser(memory, anEndUser({ blockedAt: world.now.toISOString() }));
const filter = () =>
  bedrock.on(ApplyGuardrailCommand).resolves({ action: 'GUARDRAIL_INTERVENED', assessments: [] } as never);

const create = (situation: Situation = {}, headers: Record<string, string> = {}) =>
  withEnvironment({ GUARDRAIL_ID: 'guardrail', GUARDRAIL_VERSION: '1' }, async () => {
    const caller = await aCaller(memory, situation);
    const own = situation.key === 'absent' ? {} : caller.headers;
    memory.client.resetHistory();
    memory.transactions.length = 0;
    const body = aGenerationBody(situation.body);
    return read(await handler(anApiEvent({ headers: { ...own, ...headers }, body }), aLambdaContext()));
  });

/** The refusals in order: an earlier one hides all later ones. */
const REFUSALS: [number, string, Situation, () => unknown][] = [
  [401, 'unauthorized', { key: 'absent' }, () => undefined],
  [401, 'account_blocked', { account: { blockedAt: NOW.toISOString() } }, () => undefined],
  [403, 'forbidden', { scopes: ['generations:read'] }, () => undefined],
  [429, 'rate_limited', { isExhausted: true }, () => undefined],
  [400, 'validation_error', { body: { n: 0 } }, () => undefined],
  [403, 'forbidden', {}, block],
  [503, 'temporarily_unavailable', {}, pause],
  [402, 'payment_required', { account: { balanceThousandths: 5_999 } }, () => undefined],
  [422, 'content_policy', {}, filter],
];
/** A situation in which every refusal from the `from`-th on applies. */
const wrongFrom = (from: number): Situation => {
  const wrong = REFUSALS.slice(from);
  for (const [, , , given] of wrong) given();
  const account = Object.assign({}, ...wrong.map(([, , situation]) => situation.account));
  return { ...Object.assign({}, ...wrong.map(([, , situation]) => situation)), account };
};

describe('a creation', () => {
  test('with nothing wrong is accepted', async () => {
    expect((await create()).status).toBe(202);
  });

  test.each(REFUSALS.map(([status, code], index) => [status, code, index] as const))(
    'is refused with %p %s before any later refusal, and nothing is written',
    async (status, code, index) => {
      const answer = await create(wrongFrom(index));

      expect([answer.status, answer.body.error.code]).toEqual([status, code]);
      expect(Object.keys(answer.body)).toEqual(['error']);
      expect(memory.transactions).toEqual([]);
      expect(executions.started).toEqual([]);
      // The content filter runs after every other check: a caller who cannot pay causes no call to it.
      expect(bedrock.calls()).toHaveLength(code === 'content_policy' ? 1 : 0);
    },
  );

  test('that is paused or too fast gets Retry-After', async () => {
    pause();
    expect((await create()).headers).toMatchObject({ 'Retry-After': '62' });
    expect(Number((await create({ isExhausted: true })).headers['Retry-After'])).toBeGreaterThanOrEqual(1);
  });

  test('is not paused by another model or another end-user', async () => {
    pause();

    expect((await create({ body: { model: 'xSD4.5' } })).status).toBe(202);
    expect(
      (await create({ account: { ledgerEntries: 4 }, body: { endUserEmail: 'bob@example.com' } })).status,
    ).toBe(202);
    expect((await create()).status).toBe(503);
    stopTime(new Date(world.now.getTime() + 61_500));
    expect((await create({ account: { ledgerEntries: 5 } })).status).toBe(202);
  });
});

describe('a creation with an Idempotency-Key', () => {
  const key = { 'Idempotency-Key': 'key-1' };

  test('answers the first 202 again and marks it as replayed', async () => {
    const first = await create({}, key);
    memory.patch(requestKey(first.body.requestId), { status: 'processing' });
    const again = await create({}, { 'idempotency-key': 'key-1' });

    expect(first.headers).not.toHaveProperty('Idempotency-Replayed');
    expect(again).toStrictEqual({
      ...first,
      headers: { ...first.headers, 'Idempotency-Replayed': 'true' },
    });
    expect(memory.transactions).toEqual([]);
  });

  test('refuses the caller before it answers again', async () => {
    await create({}, key);

    for (const [index, [status]] of REFUSALS.slice(0, 4).entries()) {
      expect((await create({ ...REFUSALS[index]?.[2] }, key)).status).toBe(status);
    }
  });
});
