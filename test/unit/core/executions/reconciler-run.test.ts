import { describe, expect, test } from '@jest/globals';
import {
  beginRun,
  claimStart,
  findReconcilerRun,
  isReconcilerAlive,
  nameReconciler,
  type ReconcilerRun,
  renewRun,
} from '../../../../core/executions/reconciler-run.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import '../../fakes/fresh-table.ts';

const ms = (seconds: number): number => atSeconds(seconds).getTime();
const begin = (runId: string, seconds: number, ifDead = false) =>
  beginRun(runId, 'reconcile', atSeconds(seconds), { ifDead });
const found = async () => (await findReconcilerRun()) as ReconcilerRun;

describe('the run at work', () => {
  test('is alive for 10 s after its start and each renewal', async () => {
    expect(await begin('a', 0)).toBe(true);
    expect(await found()).toEqual({
      ...{ runId: 'a', functionName: 'reconcile' },
      ...{ aliveUntilMs: ms(10), isOver: false },
    });

    expect(await renewRun('a', atSeconds(2))).toBe(true);
    expect(await found()).toMatchObject({ aliveUntilMs: ms(12) });
  });

  test('is replaced by a newer one, and cannot renew or end itself any more', async () => {
    await begin('a', 0);
    expect(await begin('b', 1)).toBe(true);

    expect(await renewRun('a', atSeconds(2))).toBe(false);
    expect(await renewRun('a', atSeconds(2), 'without-work')).toBe(false);
    expect(await found()).toMatchObject({ runId: 'b', aliveUntilMs: ms(11) });
  });

  test.each([
    [9.999, false],
    [10, true],
    [3_600, true],
  ])(
    'is left to work by one that begins late, unless it is dead: after %p s, %p',
    async (seconds, begins) => {
      await begin('a', 0);

      expect(await begin('b', seconds, true)).toBe(begins);
    },
  );

  test.each([15, 3_600, 60 * 86_400])('is dead when a clock %p s ahead kept it alive', async (seconds) => {
    await begin('a', seconds);

    expect(await isReconcilerAlive(atSeconds(0))).toBe(false);
    expect(await begin('b', 0, true)).toBe(true);
    expect(await isReconcilerAlive(atSeconds(1))).toBe(true);
    expect(await begin('c', 1, true)).toBe(false);
  });

  test.each([
    [2, true],
    [2.001, false],
  ])(
    'is alive when a clock %p s ahead began it: %p. Clocks differ by two seconds at most',
    async (seconds, isAlive) => {
      await begin('a', seconds);

      expect(await isReconcilerAlive(atSeconds(0))).toBe(isAlive);
      expect(await begin('b', 0, true)).toBe(!isAlive);
    },
  );

  test('counts as dead from its end on', async () => {
    await begin('a', 0);
    await renewRun('a', atSeconds(3), 'without-work');

    expect(await found()).toMatchObject({ aliveUntilMs: ms(3) });
    expect(await begin('b', 3, true)).toBe(true);
  });
});

describe('a run whose minute is over', () => {
  test('leaves its work to the next one: nobody starts another, and the next one need not wait', async () => {
    await begin('a', 0);
    await renewRun('a', atSeconds(59), 'minute-over');

    expect(await isReconcilerAlive(atSeconds(61.9))).toBe(true);
    expect(await isReconcilerAlive(atSeconds(62))).toBe(false);
    expect(await found()).toMatchObject({ isOver: true });
    expect(await begin('b', 60, true)).toBe(true);
    expect(await found()).toMatchObject({ runId: 'b', isOver: false });
  });
});

describe('the start of a run after a dead one', () => {
  test('is claimed by one of all that saw it dead, and counts as alive for 10 s', async () => {
    await begin('a', 0);
    const seen = await found();

    const claims = await Promise.all(Array.from({ length: 9 }, () => claimStart(seen, atSeconds(20))));

    expect(claims.filter((isClaimed) => isClaimed)).toHaveLength(1);
    expect(await found()).toMatchObject({ runId: 'a', aliveUntilMs: ms(30) });
  });

  test('is refused when another run has begun since', async () => {
    await begin('a', 0);
    const seen = await found();
    await begin('b', 15);

    expect(await claimStart(seen, atSeconds(16))).toBe(false);
    expect(await found()).toMatchObject({ aliveUntilMs: ms(25) });
  });
});

test('the function is named before the first run, which counts as dead, and renamed without ending a run', async () => {
  expect(await findReconcilerRun()).toBeUndefined();
  await nameReconciler('first');
  expect(await findReconcilerRun()).toEqual({ functionName: 'first', aliveUntilMs: 0 });

  await beginRun('a', 'first', NOW);
  await nameReconciler('second');
  expect(await findReconcilerRun()).toMatchObject({
    ...{ runId: 'a', functionName: 'second', aliveUntilMs: ms(10) },
  });
});
