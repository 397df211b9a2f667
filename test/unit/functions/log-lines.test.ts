import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';

// Lines are then written as in Lambda, with the console that a test can listen to.
Object.assign(process.env, { POWERTOOLS_LOG_LEVEL: 'INFO', POWERTOOLS_DEV: 'true' });
const { RouteWorld } = await import('../builders/route-world.ts');
const { handler: create } = await import('../../../functions/api/create-generation.ts');
const { handler: fail } = await import('../../../functions/workflow/fail-request.ts');
const { aGenerationBody } = await import('../builders/bodies.ts');
const { aLambdaContext, anApiEvent } = await import('../builders/api-events.ts');
const { aCaller } = await import('../builders/callers.ts');
const { ACCOUNT_ID, EMAIL } = await import('../builders/entities.ts');

const PROMPT = 'a very private lighthouse';
const written = [jest.spyOn(console, 'info'), jest.spyOn(console, 'warn'), jest.spyOn(console, 'error')];
for (const console of written) console.mockReturnValue(undefined);
afterAll(() => {
  jest.restoreAllMocks();
});

const world = new RouteWorld();
beforeEach(() => {
  world.reset();
  for (const console of written) console.mockClear();
});
const lines = (): Record<string, unknown>[] =>
  written.flatMap(({ mock }) => mock.calls.map(([line]) => JSON.parse(String(line))));
const lineOf = (message: string) => lines().filter((line) => line.message === message);

describe('the line of an accepted creation', () => {
  test('ties X-Request-Id to request, account, key and model', async () => {
    const { headers, body } = await world.call(create, { body: aGenerationBody({ prompt: PROMPT }) });

    expect(lineOf('creation accepted')).toMatchObject([
      {
        httpRequestId: headers['X-Request-Id'],
        requestId: body.requestId,
        accountId: ACCOUNT_ID,
        keyId: expect.stringMatching(/^key_/),
        model: 'xQI3Pro',
        replayed: false,
      },
    ]);
  });

  test('of a repeated one ties this call to the first request', async () => {
    const { headers } = await aCaller(world.memory);
    const repeat = async () =>
      create(
        anApiEvent({ headers: { ...headers, 'Idempotency-Key': 'one' }, body: aGenerationBody() }),
        aLambdaContext(),
      );
    await repeat();
    await repeat();

    const [first, second] = lineOf('creation accepted');
    expect([first?.replayed, second?.replayed]).toEqual([false, true]);
    expect(second?.requestId).toBe(first?.requestId);
  });

  test('is absent when the creation is refused', async () => {
    await world.call(create, { body: aGenerationBody({ prompt: '' }) });

    expect(lineOf('creation accepted')).toEqual([]);
    expect(lineOf('request refused')).toMatchObject([{ httpRequestId: 'http-request-1' }]);
  });
});

test('No line from a creation to its end holds a prompt or an email address', async () => {
  const { body } = await world.call(create, { body: aGenerationBody({ prompt: PROMPT }) });
  await fail({ requestId: body.requestId }, aLambdaContext());

  expect(lines().map(({ message }) => message)).toEqual(
    expect.arrayContaining(['creation accepted', 'request ended']),
  );
  for (const line of lines()) {
    expect(JSON.stringify(line)).not.toContain(PROMPT);
    expect(JSON.stringify(line)).not.toContain(EMAIL);
  }
});
