import { describe, expect, test } from '@jest/globals';
import { faultOf, parseDirectives } from '../src/directives.ts';

const NONE = {
  flakyCalls: 0,
  busyCalls: new Set(),
  busySeconds: 0,
  hangSeconds: 0,
  unavailableQueries: 0,
  isRevoked: false,
  refusedOutputs: new Set(),
  brokenOutputs: new Set(),
  halfOutputs: new Set(),
  lateSeconds: 0,
  isEmpty: false,
  isForgotten: false,
};

describe('the directives of a prompt', () => {
  test.each([
    ['a fox [delay=5]', { delaySeconds: 5 }],
    ['a fox [delay=0.25]', { delaySeconds: 0.25 }],
    ['a fox [busy=1]', { busyCalls: new Set([1]) }],
    ['a fox [busy=0][busy=2]', { busyCalls: new Set([0, 2]) }],
    ['a fox [busy=1] [busy=all]', { busyCalls: 'all' }],
    ['a fox [busy-for=2.5]', { busySeconds: 2.5 }],
    ['a fox [garbled=creation]', { garbled: 'creation' }],
    ['a fox [garbled=queries]', { garbled: 'queries' }],
    ['a fox [rate=2][running=3]', { createsPerSecond: 2, runningCalls: 3 }],
    ['a fox [retry-after=7]', { retryAfterSeconds: 7 }],
    ['a fox [hang=1.5]', { hangSeconds: 1.5 }],
    ['a fox [unavailable=2]', { unavailableQueries: 2 }],
    ['a fox [revoked]', { isRevoked: true }],
    ['a fox [usage=14]', { usageSeconds: 14 }],
    ['a fox [partial=0][partial=2]', { refusedOutputs: new Set([0, 2]) }],
    ['a fox [queued=60]', { queuedSeconds: 60 }],
    ['a fox [fail=content_policy]', { fail: 'content_policy' }],
    ['a fox [fail=provider_error]', { fail: 'provider_error' }],
    ['a fox [fail=timeout]', { fail: 'timeout' }],
    ['a fox [flaky=2]', { flakyCalls: 2 }],
    ['a fox [images=3]', { images: 3 }],
    ['a fox [broken=1]', { brokenOutputs: new Set([1]) }],
    ['a fox [broken=0][broken=2]', { brokenOutputs: new Set([0, 2]) }],
    ['a fox [broken=1] [broken=all]', { brokenOutputs: 'all' }],
    ['a fox [half=0][half=2]', { halfOutputs: new Set([0, 2]) }],
    ['a fox [half=1] [half=all]', { halfOutputs: 'all' }],
    ['a fox [late=2.5]', { lateSeconds: 2.5 }],
    ['a fox [callback=off]', { callback: 'off' }],
    ['a fox [callback=twice]', { callback: 'twice' }],
    ['a fox [callback=late]', { callback: 'late' }],
    ['a fox [status=THROTTLED]', { statusWord: 'THROTTLED' }],
    ['a fox [status=in_review]', { statusWord: 'in_review' }],
    ['a fox [empty]', { isEmpty: true }],
    ['a fox [forget]', { isForgotten: true }],
    ['a fox [megabytes=200]', { megabytes: 200 }],
    ['[delay=1] a [delay=2][images=4] fox', { delaySeconds: 2, images: 4 }],
  ])('%s', (prompt, expected) => {
    expect(parseDirectives(prompt)).toEqual({
      text: 'a fox',
      ...NONE,
      ...expected,
    });
  });

  test.each([
    'a fox',
    'a fox [delay=soon]',
    'a fox [delay=-1]',
    'a fox [fail=never]',
    'a fox [images=0]',
    'a fox [broken=some]',
    'a fox [half]',
    'a fox [late=all]',
    'a fox [delay=5',
    'a fox [callback=never]',
    'a fox [busy=2.5]',
    'a fox [busy-for=all]',
    'a fox [garbled]',
    'a fox [garbled=answers]',
    'a fox [status=]',
    'a fox [status=two words]',
    'a fox [empty=1]',
    'a fox [megabytes=0]',
    'a fox [megabytes=1000]',
    'a [fox] ',
  ])('other brackets stay in the text: %s', (prompt) => {
    expect(parseDirectives(prompt)).toEqual({ text: prompt.trim(), ...NONE });
  });

  test('tell which outputs are broken, half and late', () => {
    const faults = (prompt: string) => [0, 1, 2].map((index) => faultOf(parseDirectives(prompt), index));
    const none = { isBroken: false, isHalf: false, lateSeconds: 0 };
    const [broken, half, late] = [{ isBroken: true }, { isHalf: true }, { lateSeconds: 3 }];

    expect(faults('[broken=1]')).toEqual([none, { ...none, ...broken }, none]);
    expect(faults('[broken=all]')).toEqual(Array(3).fill({ ...none, ...broken }));
    expect(faults('[half=1]')).toEqual([none, { ...none, ...half }, none]);
    expect(faults('[half=all]')).toEqual(Array(3).fill({ ...none, ...half }));
    expect(faults('[late=3]')).toEqual(Array(3).fill({ ...none, ...late }));
  });
});
