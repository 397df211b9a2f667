import { getEventListeners } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { AbortedError, TimeoutError } from '../src/index.ts';
import { accepted, BODY, errorOf, startServer } from './a-client.ts';
import { type Behavior, hang, hangUp, json, refuse } from './server.ts';
import { watchTimers } from './timers.ts';

const { server, aClient, keysSeen } = await startServer();

describe('an attempt that takes too long', () => {
  test('is ended and repeated, and at last a TimeoutError with the key', async () => {
    const timers = watchTimers({ attemptSeconds: 7 });
    // The limit is reached once the request has arrived, however busy the machine is.
    const tooLong: Behavior = () => timers.endAttempts();
    server.answer(tooLong, accepted);
    await aClient({ attemptSeconds: 7 }).createImage(BODY);
    expect(server.seen).toHaveLength(2);
    expect(new Set(keysSeen()).size).toBe(1);

    server.answer(tooLong);
    const error = await errorOf(aClient({ attemptSeconds: 7, maxRetries: 1 }).createImage(BODY));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error.idempotencyKey).toBe(keysSeen()[0]);
    expect(server.seen).toHaveLength(2);
    expect(timers.open()).toBe(0);
  });
});

/** How many turns of the event loop a promise takes to settle, at most `most`. */
const turnsUntil = async (call: Promise<unknown>, most: number): Promise<number> => {
  let isSettled = false;
  void call.finally(() => {
    isSettled = true;
  });
  let turns = 0;
  for (; !isSettled && turns <= most; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  return turns;
};
/** No timer of a few milliseconds fits into so few. */
const AT_ONCE = 10;

describe('an abort', () => {
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };

  test.each<[string, Behavior]>([
    ['a fetch', hang],
    ['a back-off', refuse(429, 'rate_limited', { 'retry-after': '30' })],
  ])('during %s ends a creation at once, which keeps its key', async (_when, behavior) => {
    const timers = watchTimers({ quick: false });
    const controller = new AbortController();
    const { signal } = controller;
    server.answer(behavior);
    const call = errorOf(aClient().createImage(BODY, { signal }));
    await until(() => (behavior === hang ? server.seen : timers.pauses).length === 1);
    const reason = new Error('enough');
    controller.abort(reason);

    expect(await turnsUntil(call, AT_ONCE)).toBeLessThanOrEqual(AT_ONCE);
    const error = await call;
    expect(error).toBeInstanceOf(AbortedError);
    expect(error.cause).toBe(reason);
    expect(error.idempotencyKey).toBe(keysSeen()[0]);
    expect(server.seen).toHaveLength(1);
    expect(timers.open()).toBe(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('during the pause of a wait ends it at once', async () => {
    const timers = watchTimers({ quick: false });
    const controller = new AbortController();
    const { signal } = controller;
    server.answer(json(200, { requestId: 'img_1', status: 'processing' }));
    const call = errorOf(aClient().waitFor({ requestId: 'img_1' }, { signal, intervalSeconds: 600 }));
    await until(() => timers.pauses.length === 1);
    controller.abort();

    expect(await turnsUntil(call, AT_ONCE)).toBeLessThanOrEqual(AT_ONCE);
    expect(await call).toBeInstanceOf(AbortedError);
    expect(timers.open()).toBe(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('before the call sends nothing', async () => {
    server.answer(accepted);

    expect(await errorOf(aClient().createImage(BODY, { signal: AbortSignal.abort() }))).toBeInstanceOf(
      AbortedError,
    );
    expect(server.seen).toHaveLength(0);
  });

  test('that never comes leaves no listener behind', async () => {
    const { signal } = new AbortController();
    server.answer(hangUp, refuse(429, 'rate_limited', { 'retry-after': '0' }), accepted);
    await aClient().createImage(BODY, { signal });
    server.answer(json(200, { status: 'processing' }), json(200, { status: 'succeeded' }));
    await aClient().waitFor({ requestId: 'img_1' }, { signal, intervalSeconds: 0 });

    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
