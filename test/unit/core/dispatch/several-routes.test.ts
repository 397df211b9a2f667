import { describe, expect, test } from '@jest/globals';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { REQUEST_ID } from '../../builders/entities.ts';
import { aDone } from '../../builders/providers.ts';
import { attempts, givenAttempt, memory } from './a-dispatch.ts';
import {
  ACCEPTED,
  BROKEN,
  CONTENT,
  FIRST,
  INVALID,
  LOST_ANSWER,
  NO_ACCESS,
  SECOND,
  THROTTLED,
  TwoRoutes,
  UNREACHED,
} from './two-routes.ts';

describe('a request of a model with two routes', () => {
  test('goes to the first one, at the cost of one read and one count more', async () => {
    const two = new TwoRoutes();

    expect(await two.dispatch()).toMatchObject({ next: 'wait' });

    expect(two.called).toEqual([FIRST]);
    expect(attempts()[0]).not.toHaveProperty('passedOver');
    const withTwo = memory.calls();
    memory.reset();
    const one = new TwoRoutes();
    one.routes = one.routes.slice(0, 1);
    await one.dispatch();
    expect(withTwo).toEqual({ ...memory.calls(), BatchGetCommand: 1, UpdateCommand: 3 });
  });

  test('goes to the first one that takes it', async () => {
    const two = new TwoRoutes();
    two.configure(FIRST, { limits: { images: 1 } });
    two.given({ images: 2 });

    await two.dispatch();

    expect(two.called).toEqual([SECOND]);
    expect(attempts()).toMatchObject([
      { passedOver: [{ route: FIRST, why: 'it does not take this request' }] },
    ]);
  });

  test('goes to one that refuses it when the provider of the one that takes it has no key', async () => {
    const two = new TwoRoutes();
    two.configure(FIRST, { limits: { images: 1 } });
    two.keyless.add('fal');
    two.answers[FIRST] = INVALID;
    two.given({ images: 2 });

    expect(await two.dispatch()).toEqual({ next: 'fail', error: INVALID.failure });
    expect(two.called).toEqual([FIRST]);
  });

  test('goes to the first one whose provider has a key, and looks for a key once in five minutes', async () => {
    const two = new TwoRoutes();
    two.keyless.add('modelark');

    await two.dispatch();
    expect(two.called).toEqual([SECOND]);
    expect(attempts()).toMatchObject([{ passedOver: [{ route: FIRST, why: 'its provider has no key' }] }]);

    two.keyless.clear();
    for (const [after, route] of [[299, SECOND] as const, [2, FIRST] as const]) {
      memory.reset();
      two.clock.advance(after);
      two.given({});
      await two.dispatch();
      expect(two.called.at(-1)).toBe(route);
    }
  });

  test('fails to be dispatched when no provider has a key', async () => {
    const two = new TwoRoutes();
    for (const provider of ['modelark', 'fal']) two.keyless.add(provider);

    await expect(two.dispatch()).rejects.toThrow('No provider of xQI3Pro has a key.');
  });

  test('fails to be dispatched, and does not end, when its only route has no key', async () => {
    const two = new TwoRoutes();
    two.routes = two.routes.slice(0, 1);
    two.keyless.add('modelark');

    await expect(two.dispatch()).rejects.toThrow('It has no value.');
  });

  test('is dispatched again when another run assigns it a route meanwhile', async () => {
    const two = new TwoRoutes();
    two.given({ assignment: undefined });
    memory.beforeCall = () => {
      const isBeingAssigned = memory.calls().UpdateCommand !== undefined;
      if (isBeingAssigned) memory.patch(requestKey(REQUEST_ID), { assignment: { route: SECOND, number: 1 } });
    };

    expect(await two.dispatch()).toEqual({ next: 'retry', waitSeconds: 1 });
    expect(two.called).toEqual([]);
  });

  test('is dispatched again when a route cannot be checked up for another reason than a missing key', async () => {
    const two = new TwoRoutes();
    two.errors[FIRST] = new Error('no adapter');

    await expect(two.dispatch()).rejects.toThrow('no adapter');
    delete two.errors[FIRST];
    await two.dispatch();

    expect(two.called).toEqual([FIRST]);
  });

  test.each<[string, ProviderAnswer, string[], string]>([
    ['refused our key', NO_ACCESS, [FIRST, SECOND], 'wait'],
    ['refused its content', CONTENT, [FIRST], 'fail'],
    ['refused it for its input', INVALID, [FIRST], 'fail'],
    ['answered with a 5xx', BROKEN, [FIRST], 'fail'],
    ['lost the answer', LOST_ANSWER, [FIRST], 'fail'],
    ['took it', ACCEPTED, [FIRST], 'wait'],
  ])('whose first provider %s is called at %j', async (_, answer, called, next) => {
    const two = new TwoRoutes();
    two.answers[FIRST] = answer;

    expect(await two.dispatchOn()).toMatchObject({ next });
    expect(two.called).toEqual(called);
  });

  test('leaves a provider that is not reached at the third try, within 30 s of its first', async () => {
    const two = new TwoRoutes();
    two.answers[FIRST] = UNREACHED;

    for (const expected of ['retry', 'retry', 'retry', 'wait']) {
      expect(await two.dispatch()).toMatchObject({ next: expected });
      two.clock.advance(3);
    }
    expect(two.called).toEqual([FIRST, FIRST, FIRST, SECOND]);
    expect(attempts()).toMatchObject([
      { provider: 'modelark', attempt: 0 },
      { provider: 'modelark', attempt: 1 },
      { provider: 'modelark', attempt: 2 },
      { provider: 'fal', attempt: 3, passedOver: [{ route: FIRST, why: 'it was not reached' }] },
    ]);
  });

  test('leaves a provider that was too busy for two minutes, and not before', async () => {
    const two = new TwoRoutes();
    two.answers[FIRST] = THROTTLED;
    await two.dispatch();
    two.clock.advance(119);
    await two.dispatch();
    expect(two.called).toEqual([FIRST, FIRST]);

    two.clock.advance(1);
    expect(await two.dispatch()).toMatchObject({ next: 'wait' });
    expect(two.called).toEqual([FIRST, FIRST, SECOND]);
  });

  test('stays with a call that may have been taken, whatever becomes of the others', async () => {
    const two = new TwoRoutes();
    two.calls[FIRST] = 2;
    two.given({ images: 2 });
    const startedAt = two.clock.now().toISOString();
    const place = { provider: 'modelark', upstreamModel: 'one', startedAt };
    givenAttempt({ ...place, call: 0, outcome: BROKEN });
    givenAttempt({ ...place, call: 1, outcome: UNREACHED });
    two.pause(FIRST);
    two.clock.advance(200);

    await two.dispatch();

    expect(two.called).toEqual([FIRST]);
    expect(attempts()).toMatchObject([
      { call: 0 },
      { call: 1 },
      { call: 1, attempt: 1, provider: 'modelark' },
    ]);
  });

  test('makes all calls of the other plan, and forgets those that were left behind', async () => {
    const two = new TwoRoutes();
    two.mode = 'synchronous';
    two.calls[FIRST] = 3;
    two.answers[FIRST] = NO_ACCESS;
    two.answers[SECOND] = aDone('https://a.example/1', 'https://a.example/2', 'https://a.example/3');
    two.given({ images: 3 });

    expect(await two.dispatchOn()).toEqual({ next: 'store' });
    expect(two.called).toEqual([FIRST, FIRST, FIRST, SECOND]);
    expect(attempts().filter(({ provider }) => provider === 'fal')).toMatchObject([{ call: 0, attempt: 1 }]);
    // Repeated, it finds all calls made.
    expect(await two.dispatch()).toEqual({ next: 'store' });
    expect(two.called).toHaveLength(4);
  });

  test('fails when the last provider refuses our key too', async () => {
    const two = new TwoRoutes();
    two.answers[FIRST] = NO_ACCESS;
    two.answers[SECOND] = NO_ACCESS;

    expect(await two.dispatchOn()).toEqual({ next: 'fail', error: NO_ACCESS.failure });
    expect(two.called).toEqual([FIRST, SECOND]);
  });

  test('goes on where it is while the other route is paused', async () => {
    const two = new TwoRoutes();
    two.answers[FIRST] = UNREACHED;
    two.pause(SECOND, { forSeconds: 300 });

    for (let count = 0; count < 4; count++) {
      expect(await two.dispatch()).toMatchObject({ next: 'retry' });
      two.clock.advance(20);
    }
    expect(two.called).toEqual([FIRST, FIRST, FIRST, FIRST]);
  });

  test('counts its deadline from the first call, wherever that was', async () => {
    const two = new TwoRoutes();
    two.answers[FIRST] = UNREACHED;
    await two.dispatch();
    two.clock.advance(200);
    expect(await two.dispatch()).toEqual({ next: 'wait', timeoutSeconds: 401 });
    expect(two.called).toEqual([FIRST, SECOND]);
    expect(memory.get({ PK: `REQUEST#${REQUEST_ID}`, SK: 'REQUEST' })).toMatchObject({
      status: 'processing',
    });
  });
});
