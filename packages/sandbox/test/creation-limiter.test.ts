import { describe, expect, test } from '@jest/globals';
import { createCreationLimiter } from '../src/capacity.ts';
import { parseDirectives } from '../src/directives.ts';

describe('a limiter of creations', () => {
  const creation = (prompt: string, model = 'a') => ({ model, prompt, directives: parseDirectives(prompt) });
  const limiterAt = (clock: { time: number }, createsPerSecond?: number) =>
    createCreationLimiter(() => clock.time, createsPerSecond === undefined ? {} : { createsPerSecond });

  test('lets so many creations of a model pass in each second', () => {
    const clock = { time: 0 };
    const limiter = limiterAt(clock, 2);
    const refused = (model = 'a') => limiter.refusalOf(creation('a fox', model)) !== undefined;

    expect([refused(), refused(), refused(), refused('b')]).toEqual([false, false, true, false]);
    clock.time = 999;
    expect(refused()).toBe(true);
    clock.time = 1_000;
    expect([refused(), refused(), refused()]).toEqual([false, false, true]);
  });

  test('refuses a busy prompt for its seconds, from the first call on', () => {
    const clock = { time: 50_000 };
    const limiter = limiterAt(clock);
    const refused = (animal = 'a fox') =>
      limiter.refusalOf(creation(`${animal} [busy-for=2.5]`)) !== undefined;

    expect(refused()).toBe(true);
    clock.time += 2_499;
    expect([refused(), refused('a hen')]).toEqual([true, true]);
    clock.time += 1;
    expect([refused(), refused('a hen')]).toEqual([false, true]);
  });

  test('refuses the call at a busy place however often it is repeated, and takes those beside it', () => {
    const clock = { time: 0 };
    const limiter = limiterAt(clock);
    const refused = () => limiter.refusalOf(creation('a fox [busy=1]')) !== undefined;

    expect([refused(), refused(), refused()]).toEqual([false, true, false]);
    for (const time of [500, 1_000, 90_000]) {
      clock.time = time;
      expect(refused()).toBe(true);
    }
    clock.time += 499;
    expect(refused()).toBe(false);
  });

  test('refuses the calls at several busy places, each on its own', () => {
    const clock = { time: 0 };
    const limiter = limiterAt(clock);
    const refused = () => limiter.refusalOf(creation('a fox [busy=0][busy=2]')) !== undefined;

    expect([refused(), refused(), refused(), refused()]).toEqual([true, false, true, false]);
    clock.time = 1_000;
    expect([refused(), refused(), refused()]).toEqual([true, true, false]);
  });

  test('refuses every call of a prompt that is busy at all places, and no other prompt', () => {
    const limiter = limiterAt({ time: 0 });
    const refusal = (prompt: string) => limiter.refusalOf(creation(prompt));

    expect([1, 2, 3].map(() => refusal('a fox [busy=all]'))).toEqual(Array(3).fill({ reason: 'rate' }));
    expect(refusal('a fox')).toBeUndefined();
    expect(refusal('a fox [busy=1]')).toBeUndefined();
  });

  test('says when a rate has room again, and what a prompt asks for', () => {
    const clock = { time: 0 };
    const limiter = limiterAt(clock, 1);
    const refusal = (prompt: string, model?: string) => limiter.refusalOf(creation(prompt, model));

    expect(refusal('a fox')).toBeUndefined();
    clock.time = 1;
    expect(refusal('a fox')).toEqual({ reason: 'rate', retryAfterSeconds: 1 });
    expect(refusal('a fox [retry-after=7]')).toEqual({ reason: 'rate', retryAfterSeconds: 7 });
    expect(refusal('a hen [busy-for=9]', 'b')).toEqual({ reason: 'rate', retryAfterSeconds: 1 });
    expect(refusal('a hen [busy-for=9][retry-after=5]', 'c')).toEqual({
      reason: 'rate',
      retryAfterSeconds: 5,
    });
    expect(refusal('a hen [busy=0][retry-after=5]', 'd')).toEqual({ reason: 'rate', retryAfterSeconds: 5 });
    expect(refusal('a hen [flaky=1][retry-after=3]', 'e')).toEqual({
      reason: 'overload',
      retryAfterSeconds: 3,
    });
    expect(refusal('a hen [flaky=1][retry-after=3]', 'f')).toMatchObject({ reason: 'overload' });
  });

  test('takes no more creations of a prompt in a second than it asks for', () => {
    const clock = { time: 0 };
    const limiter = limiterAt(clock);
    const refused = (prompt: string) => limiter.refusalOf(creation(prompt)) !== undefined;

    const foxes = [1, 2, 3].map(() => refused('a fox [rate=2]'));
    expect([...foxes, refused('a hen [rate=2]')]).toEqual([false, false, true, false]);
    clock.time = 1_000;
    expect(refused('a fox [rate=2]')).toBe(false);
  });

  test('refuses calls beyond those that may be under way, of a model or a prompt, until one has ended', async () => {
    const limiter = createCreationLimiter(() => 0, { runningCalls: 2 });
    const end: (() => void)[] = [];
    const call = (prompt: string, model?: string) =>
      limiter.during(
        creation(prompt, model),
        ({ reason, retryAfterSeconds }) => new Error(`${reason} ${retryAfterSeconds}`),
        () => new Promise<void>((resolve) => end.push(resolve)),
      );

    const [first, second] = [call('a fox [running=1]'), call('a hen')];
    await expect(call('a cat [retry-after=4]')).rejects.toThrow('running 4');
    end[1]?.();
    await second;
    await expect(call('a fox [running=1]')).rejects.toThrow('running undefined');
    const others = [call('a cat'), call('a cat', 'another')];
    for (const each of end) each();
    await Promise.all([first, ...others]);
    expect(end).toHaveLength(4);
  });
});
