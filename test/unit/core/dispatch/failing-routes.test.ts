import { describe, expect, test } from '@jest/globals';
import type { ProviderAnswer, ProviderPlan } from '../../../../core/provider-calls/providers.ts';
import { aDone } from '../../builders/providers.ts';
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

describe('a route whose calls fail', () => {
  test.each<[string, ProviderAnswer]>([
    ['are answered with a 5xx', BROKEN],
    ['do not reach the provider', UNREACHED],
  ])('is paused after five of a hundred that %s', async (_, answer) => {
    const two = new TwoRoutes();
    two.answers[FIRST] = answer;

    await two.burst(100);

    expect(two.callsOf(SECOND)).toBeGreaterThan(94);
    expect(two.state(FIRST)).toMatchObject({ pauseReason: 'calls', pausedAt: two.clock.now().toISOString() });
  });

  test('is paused after one that our key was refused for', async () => {
    const two = new TwoRoutes();
    two.answers[FIRST] = NO_ACCESS;

    await two.burst(10);

    expect(two.callsOf(FIRST)).toBe(1);
    expect(two.callsOf(SECOND)).toBe(10);
    expect(two.state(FIRST)).toMatchObject({ pauseReason: 'access', pauseSeconds: 30 });
  });

  test.each([
    [undefined, 5],
    [3, 3],
    [900, 60],
  ])(
    'is paused after one that it was too busy for, with a Retry-After of %p for %i s',
    async (wanted, seconds) => {
      const two = new TwoRoutes();
      two.answers[FIRST] = { ...THROTTLED, retryAfterSeconds: wanted };

      await two.burst(10);

      expect(two.called).toEqual([FIRST, ...Array(9).fill(SECOND)]);
      expect(two.state(FIRST)).toMatchObject({ pauseReason: 'busy', pausedUntil: two.in(seconds) });
    },
  );

  test.each<[string, ProviderAnswer]>([
    ['content', CONTENT],
    ['input', INVALID],
    ['slow files', { ...BROKEN, blamesInput: true }],
  ])('for their own %s is not paused', async (_, answer) => {
    const two = new TwoRoutes();
    two.answers[FIRST] = answer;

    await two.burst(20);

    expect(two.callsOf(FIRST)).toBe(20);
    expect(two.state(FIRST)?.pausedAt).toBeUndefined();
  });

  test.each<[string, ProviderPlan['mode'], ProviderAnswer]>([
    ['work', 'synchronous', aDone('https://a.example/1')],
    ['create tasks', 'asynchronous', ACCEPTED],
    ['are refused for their content', 'asynchronous', CONTENT],
  ])('less often than others %s is not paused, whichever come first', async (_, mode, answer) => {
    const two = new TwoRoutes();
    two.mode = mode;
    two.answers[FIRST] = answer;
    for (let count = 0; count < 12; count++) {
      await two.burst(1);
      two.clock.advance(1);
    }
    two.answers[FIRST] = BROKEN;
    await two.burst(11);
    expect(two.callsOf(SECOND)).toBe(0);

    await two.burst(2);
    expect(two.callsOf(SECOND)).toBe(1);
  });

  test('of one caller only is not paused while another caller’s work', async () => {
    const two = new TwoRoutes();
    for (let round = 0; round < 10; round++) {
      two.answers[FIRST] = ACCEPTED;
      await two.burst(1, 'acc_other');
      two.answers[FIRST] = BROKEN;
      await two.burst(5, 'acc_poison');
      two.clock.advance(10);
    }

    expect(two.callsOf(SECOND)).toBe(0);
  });

  test.each([
    ['within five minutes', 240, 5],
    ['of more than five minutes ago', 300, 8],
  ])('%s counts: eight of them pause it after %i s or not', async (_, seconds, calls) => {
    const two = new TwoRoutes();
    two.answers[FIRST] = BROKEN;
    await two.burst(4);
    two.clock.advance(seconds);
    await two.burst(4);

    expect(two.callsOf(FIRST)).toBe(calls);
  });

  test('of a model with one route writes no state', async () => {
    const two = new TwoRoutes();
    two.routes = two.routes.slice(0, 1);
    two.answers[FIRST] = BROKEN;

    await two.burst(6);

    expect(two.state(FIRST)).toBeUndefined();
  });
});
