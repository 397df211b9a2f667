import { beforeEach, describe, expect, test } from '@jest/globals';
import { handler as createQuote } from '../../../functions/api/create-quote.ts';
import { aGenerationBody, aVideoBody } from '../builders/bodies.ts';
import { putModelSettings } from '../builders/entities.ts';
import { RouteWorld } from '../builders/route-world.ts';

const world = new RouteWorld();
const { memory, executions } = world;
beforeEach(() => world.reset());

const quote = (body: unknown, options: Parameters<typeof world.call>[2] = {}, more = {}) =>
  world.call(createQuote, { body, ...more }, options);

describe('POST /v1/quotes', () => {
  test.each([
    [{ kind: 'image', ...aGenerationBody({ n: 2 }) }, 12],
    [{ kind: 'video', ...aVideoBody({ resolution: '480p' }) }, 15],
  ])('of %j answers what it costs, and writes nothing', async (body, xTokens) => {
    const { status, body: answer } = await quote(body);

    expect([status, answer]).toEqual([200, { xTokens, balance: 100, covered: true, budgets: [] }]);
    expect([memory.transactions, executions.started]).toEqual([[], []]);
    // The key's use is counted, as of every call.
    expect(memory.calls().UpdateCommand).toBe(1);
    expect(memory.calls()).not.toHaveProperty('PutCommand');
  });

  test.each<[string, unknown, Record<string, string>]>([
    ['no kind', aGenerationBody(), { kind: 'is required' }],
    ['another kind', { kind: 'audio', ...aGenerationBody() }, { kind: 'must be image or video' }],
    ['a model of the other kind', { kind: 'video', ...aGenerationBody() }, { model: 'is not a video model' }],
    [
      'fields of the other kind',
      { kind: 'image', ...aGenerationBody({ durationSec: 5 }) },
      { durationSec: 'is not a known field' },
    ],
    ['a wrong field', { kind: 'image', ...aGenerationBody({ n: 0 }) }, { n: 'must be at least 1' }],
    ['nothing', {}, { kind: 'is required' }],
    ['no JSON', '{', { body: 'must be JSON' }],
  ])('of %s is refused by name', async (_, body, fields) => {
    const { status, body: answer } = await quote(body);

    expect([status, answer.error.fields]).toEqual([400, fields]);
  });

  test('refuses a key that may only read', async () => {
    const scopes = ['generations:read', 'balance:read', 'models:read'] as const;
    const body = { kind: 'image', ...aGenerationBody() };

    expect((await quote(body, { scopes })).status).toBe(403);
    expect((await quote(body, { scopes: ['generations:write'] })).status).toBe(200);
  });

  test('says that the balance does not suffice, instead of a refusal', async () => {
    const body = { kind: 'image', ...aGenerationBody() };
    const { status, body: answer } = await quote(body, { account: { balanceThousandths: 5_999 } });

    expect([status, answer]).toEqual([200, { xTokens: 6, balance: 5.999, covered: false, budgets: [] }]);
  });

  test('tells of the end of the model, and refuses the model afterwards', async () => {
    const body = { kind: 'image', ...aGenerationBody() };
    const end = (seconds: number) =>
      putModelSettings(memory, {
        model: 'xQI3Pro',
        retirement: { announcedAt: world.inSeconds(-60), retiresAt: world.inSeconds(seconds) },
      });
    end(60);
    const sunset = new Date(world.inSeconds(60)).toUTCString();
    expect((await quote(body)).headers).toMatchObject({
      Deprecation: expect.stringMatching(/^@\d+$/),
      Sunset: sunset,
    });

    world.reset();
    end(0);
    expect((await quote(body)).body.error.fields.model).toMatch(/^was retired at /);
  });
});
