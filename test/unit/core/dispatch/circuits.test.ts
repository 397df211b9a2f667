import { describe, expect, test } from '@jest/globals';
import type { ProviderAnswer, ProviderPlan } from '../../../../core/provider-calls/providers.ts';
import { circuitKey, gateKey, requestKey } from '../../../../core/table/keys.ts';
import { anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { aDone } from '../../builders/providers.ts';
import { attempts, memory } from './a-dispatch.ts';
import {
  ACCEPTED,
  BROKEN,
  CONTENT,
  FIRST,
  INVALID,
  NO_ACCESS,
  SECOND,
  THROTTLED,
  TwoRoutes,
  UNREACHED,
} from './two-routes.ts';

let made = 0;
/** Dispatches so many new requests, one after the other. */
const burst = async (two: TwoRoutes, count: number): Promise<void> => {
  for (let index = 0; index < count; index++) {
    const requestId = `img_${made++}`;
    const createdAt = two.clock.now().toISOString();
    memory.put(requestKey(requestId), anImageRequest({ requestId, createdAt }));
    await two.dispatch(requestId);
  }
};
const callsOf = (two: TwoRoutes, route: string): number => two.called.filter((name) => name === route).length;

describe('a route whose calls fail', () => {
  test.each<[string, ProviderAnswer]>([
    ['are answered with a 5xx', BROKEN],
    ['do not reach the provider', UNREACHED],
  ])('is left out after five of a thousand that %s', async (_, answer) => {
    const two = new TwoRoutes();
    two.answers[FIRST] = answer;

    await burst(two, 1000);

    expect(callsOf(two, FIRST)).toBe(5);
    expect(callsOf(two, SECOND)).toBe(995);
    expect(two.circuit(FIRST)).toMatchObject({ cause: 'calls', openedAt: two.clock.now().toISOString() });
  });

  test('is left out after one that our key was refused for', async () => {
    const two = new TwoRoutes();
    two.answers[FIRST] = NO_ACCESS;

    await burst(two, 10);

    expect(callsOf(two, FIRST)).toBe(1);
    expect(callsOf(two, SECOND)).toBe(10);
    expect(two.circuit(FIRST)).toMatchObject({ cause: 'access' });
  });

  test.each<[string, ProviderAnswer]>([
    ['content', CONTENT],
    ['input', INVALID],
    ['slow files', { ...BROKEN, blamesInput: true }],
    ['number', THROTTLED],
  ])('for their own %s is not left out', async (_, answer) => {
    const two = new TwoRoutes();
    two.answers[FIRST] = answer;

    await burst(two, 20);

    expect(callsOf(two, FIRST)).toBe(20);
    expect(two.circuit(FIRST)).toBeUndefined();
  });

  test.each<[string, ProviderPlan['mode'], ProviderAnswer]>([
    ['work', 'synchronous', aDone('https://a.example/1')],
    ['create tasks', 'asynchronous', ACCEPTED],
  ])('less often than others %s is not left out', async (_, mode, answer) => {
    const two = new TwoRoutes();
    two.mode = mode;
    for (let round = 0; round < 8; round++) {
      two.answers[FIRST] = BROKEN;
      await burst(two, 1);
      two.answers[FIRST] = answer;
      await burst(two, 2);
      two.clock.advance(2);
    }

    expect(callsOf(two, SECOND)).toBe(0);
    expect(two.circuit(FIRST)?.openedAt).toBeUndefined();
  });

  test.each(['calls', 'tasks'])(
    'or whose %s do is watched, and forgets that once it is used again',
    async (what) => {
      const two = new TwoRoutes();
      const failed = { [`${what}-bad#${Math.floor(two.clock.now().getTime() / 60_000)}`]: 4 };
      memory.put(circuitKey(FIRST), failed);
      await two.dispatch();
      expect(attempts()).toMatchObject([{ circuit: 'all' }]);

      two.open(FIRST, { forSeconds: -1 });
      memory.patch(circuitKey(FIRST), failed);
      two.clock.advance(2);
      await burst(two, 1);
      expect(two.circuit(FIRST)).not.toHaveProperty('openedAt');
      expect(Object.keys(two.circuit(FIRST) ?? {})).not.toContain(Object.keys(failed)[0]);
    },
  );

  test('is left out after failures within five minutes', async () => {
    const two = new TwoRoutes();
    two.answers[FIRST] = BROKEN;
    await burst(two, 4);
    two.clock.advance(299);
    await burst(two, 4);

    expect(callsOf(two, FIRST)).toBe(5);
  });

  test('is left out after failures that a clock a minute ahead counted', async () => {
    const two = new TwoRoutes();
    two.answers[FIRST] = BROKEN;
    two.clock.advance(60);
    await burst(two, 4);
    two.clock.advance(-60);
    await burst(two, 4);

    expect(callsOf(two, FIRST)).toBe(5);
  });

  test('of more than five minutes ago is not left out, and their counts are removed', async () => {
    const two = new TwoRoutes();
    two.answers[FIRST] = BROKEN;
    await burst(two, 4);
    two.clock.advance(300);
    await burst(two, 4);

    expect(callsOf(two, FIRST)).toBe(8);
    expect(
      Object.keys(two.circuit(FIRST) ?? {}).filter((name) => name.startsWith('calls-bad#')),
    ).toHaveLength(1);
  });
});

describe('a route that is left out', () => {
  test.each([
    [
      'by failures',
      { cause: 'calls', openedAt: '2026-11-20T07:00:00.000Z', openUntil: '2027' },
      'left out since 2026-11-20T07:00:00.000Z: calls',
    ],
    ['by hand', { leftAt: '2026-11-20T08:00:00.000Z' }, 'left out by hand since 2026-11-20T08:00:00.000Z'],
  ])('%s costs a request no call, and says why it was passed over', async (_, circuit, why) => {
    const two = new TwoRoutes();
    memory.put(circuitKey(FIRST), circuit);

    await two.dispatch();

    expect(two.called).toEqual([SECOND]);
    expect(attempts()).toMatchObject([{ passedOver: [{ route: FIRST, why }] }]);
  });

  test('is tried by exactly one request once its time is over', async () => {
    const two = new TwoRoutes();
    two.open(FIRST, { forSeconds: -1 });
    two.answers[FIRST] = UNREACHED;
    await burst(two, 1);
    expect(callsOf(two, FIRST)).toBe(1);
    expect(two.circuit(FIRST)).toMatchObject({ pauseSeconds: 60 });
    expect(two.circuit(FIRST)).not.toHaveProperty('probe');

    two.clock.advance(59);
    await burst(two, 3);
    expect(callsOf(two, FIRST)).toBe(1);
  });

  test('is not tried while another request tries it', async () => {
    const two = new TwoRoutes();
    two.open(FIRST, { forSeconds: -1 });
    const probeUntil = new Date(two.clock.now().getTime() + 10_000).toISOString();
    memory.put(circuitKey(FIRST), { ...two.circuit(FIRST), probe: 'img_other', probeUntil });

    await two.dispatch();
    expect(two.called).toEqual([SECOND]);

    two.clock.advance(11);
    await burst(two, 1);
    expect(two.called).toEqual([SECOND, FIRST]);
  });

  test.each<[string, string, ProviderAnswer, boolean]>([
    ['calls', 'a task is created', ACCEPTED, true],
    ['calls', 'the content is refused', CONTENT, true],
    ['access', 'a task is created', ACCEPTED, true],
    ['calls', 'the answer is a 5xx', BROKEN, false],
    ['calls', 'the provider is too busy', THROTTLED, false],
    ['calls', 'the input is refused', INVALID, false],
    ['access', 'our key is refused', NO_ACCESS, false],
    ['tasks', 'the content is refused', CONTENT, false],
    ['tasks', 'the outputs are there at once', aDone('https://a.example/1'), true],
  ])('for %s is used again when %s: %j %p', async (cause, _, answer, isUsed) => {
    const two = new TwoRoutes();
    two.open(FIRST, { forSeconds: -1, cause });
    two.answers[FIRST] = answer;

    await two.dispatch();

    expect(callsOf(two, FIRST)).toBe(1);
    expect(two.circuit(FIRST)?.openedAt === undefined).toBe(isUsed);
  });

  test('for its tasks is tried until a task has ended', async () => {
    const two = new TwoRoutes();
    two.open(FIRST, { forSeconds: -1, cause: 'tasks' });

    await two.dispatch();

    expect(two.called).toEqual([FIRST]);
    expect(attempts()).toMatchObject([{ circuit: 'probe' }]);
    const probeUntil = new Date(two.clock.now().getTime() + 600_000).toISOString();
    expect(two.circuit(FIRST)).toMatchObject({ cause: 'tasks', probe: REQUEST_ID, probeUntil });
  });

  test('can be tried by others when the request that was to try it has ended', async () => {
    const two = new TwoRoutes();
    two.open(FIRST, { forSeconds: -1 });
    memory.beforeCall = () => {
      if (two.circuit(FIRST)?.probe !== undefined) memory.patch(requestKey(REQUEST_ID), { status: 'failed' });
    };

    expect(await two.dispatch()).toEqual({ next: 'stop' });
    expect(two.called).toEqual([]);
    expect(two.circuit(FIRST)).toMatchObject({ pauseSeconds: 60 });
    expect(two.circuit(FIRST)).not.toHaveProperty('probe');
  });

  test('is tried by the same request after a run that died before its call', async () => {
    const two = new TwoRoutes();
    two.open(FIRST, { forSeconds: -1 });
    const probeUntil = new Date(two.clock.now().getTime() + 90_000).toISOString();
    memory.patch(circuitKey(FIRST), { probe: REQUEST_ID, probeUntil });

    await two.dispatch();

    expect(two.called).toEqual([FIRST]);
    expect(two.circuit(FIRST)?.openedAt).toBeUndefined();
  });

  test('is not tried when it is full', async () => {
    const two = new TwoRoutes();
    two.fill(FIRST);
    two.open(FIRST, { forSeconds: -1 });

    await two.dispatch();

    expect(two.called).toEqual([SECOND]);
    expect(two.circuit(FIRST)).not.toHaveProperty('probe');
  });

  test('gives its permit back when another request is first to try it', async () => {
    const two = new TwoRoutes();
    two.configure(FIRST, { maxRunning: 1 });
    two.open(FIRST, { forSeconds: -1 });
    const gate = () => memory.get(gateKey(`${FIRST}#0`));
    const probeUntil = new Date(two.clock.now().getTime() + 10_000).toISOString();
    memory.beforeCall = () => {
      if (gate()?.used === 1) memory.patch(circuitKey(FIRST), { probe: 'img_other', probeUntil });
    };

    await two.dispatch();

    expect(two.called).toEqual([SECOND]);
    expect(gate()).toMatchObject({ used: 0 });
    expect(attempts()).toMatchObject([{ passedOver: [{ route: FIRST, why: 'another request tries it' }] }]);
  });

  test('with all others lets a request wait at the first, without a permit', async () => {
    const two = new TwoRoutes();
    two.configure(FIRST, { maxRunning: 1 });
    for (const route of [FIRST, SECOND]) two.open(route);

    expect(await two.dispatch()).toMatchObject({ next: 'queue', gate: `${FIRST}#0`, weight: 1, starts: 1 });
    expect(two.called).toEqual([]);
    expect(memory.get(gateKey(`${FIRST}#0`))).toBeUndefined();
  });
});
