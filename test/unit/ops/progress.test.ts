import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { reportLate } from '../../../ops/progress.ts';

const aProgress = () => {
  const shown: string[] = [];
  return {
    shown,
    update: (text: string) => void shown.push(text),
    succeed: () => undefined,
    fail: () => undefined,
    stop: () => void shown.push('stopped'),
  };
};

describe('what a command says while it works', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('nothing within a second', () => {
    const progress = aProgress();
    const { say, stop } = reportLate(progress, 'ops ledger verify');
    say('account 1 of 2');
    jest.advanceTimersByTime(999);
    stop();
    jest.advanceTimersByTime(10_000);

    expect(progress.shown).toEqual([]);
  });

  test('after a second what it does then, and each step from then on', () => {
    const progress = aProgress();
    const { say, stop } = reportLate(progress, 'ops ledger verify');
    say('account 1 of 2');
    jest.advanceTimersByTime(1_000);
    say('account 2 of 2');
    stop();

    expect(progress.shown).toEqual([
      'ops ledger verify: account 1 of 2',
      'ops ledger verify: account 2 of 2',
      'stopped',
    ]);
  });

  test('its name when it says nothing else', () => {
    const progress = aProgress();
    reportLate(progress, 'ops requests show');
    jest.advanceTimersByTime(1_000);

    expect(progress.shown).toEqual(['ops requests show']);
  });

  test('nothing, and no timer, when nobody watches', () => {
    reportLate(undefined, 'ops requests show').say('account 1 of 2');

    expect(jest.getTimerCount()).toBe(0);
  });
});
