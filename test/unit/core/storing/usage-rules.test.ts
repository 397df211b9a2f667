import { describe, expect, test } from '@jest/globals';
import type { ProviderUsage } from '../../../../core/provider-calls/providers.ts';
import { usageDifference } from '../../../../core/storing/usage-rules.ts';
import { anAttempt, anImageRequest, aVideoRequest } from '../../builders/entities.ts';
import { aDone } from '../../builders/providers.ts';

const withUsage = (usage: ProviderUsage | undefined, ...urls: string[]) =>
  anAttempt({ outcome: { ...aDone(...urls), ...(usage && { usage }) } });

describe('the usage that a provider reports', () => {
  test.each<[ProviderUsage, string | undefined]>([
    [{ outputSeconds: 5, inputSeconds: 3 }, undefined],
    [{ outputSeconds: 5.04, inputSeconds: 2.1 }, undefined],
    [{ outputSeconds: 5 }, undefined],
    [{ inputSeconds: 3.2 }, undefined],
    [{}, undefined],
    [{ outputSeconds: 5.3 }, 'more'],
    [{ outputSeconds: 4 }, 'less'],
    [{ outputSeconds: 5, inputSeconds: 14 }, 'more'],
    [{ outputSeconds: 5, inputSeconds: 0 }, 'less'],
    [{ outputSeconds: 5, inputSeconds: 1.7 }, 'less'],
  ])('for a video of 5 s from clips of up to 3 s: %j differs as %p', (usage, difference) => {
    const request = aVideoRequest({ durationSec: 5, billedSeconds: 8 });

    expect(usageDifference(request, withUsage(usage, 'a'))).toBe(difference);
  });

  test('for a video without clips has no seconds of input', () => {
    const request = aVideoRequest({ durationSec: 5, billedSeconds: 5 });

    expect(usageDifference(request, withUsage({ outputSeconds: 5, inputSeconds: 0 }, 'a'))).toBeUndefined();
    expect(usageDifference(request, withUsage({ outputSeconds: 5, inputSeconds: 1 }, 'a'))).toBe('more');
  });

  test.each<[number | undefined, string | undefined]>([
    [2, undefined],
    [3, 'more'],
    [1, 'less'],
    [undefined, undefined],
  ])('of %p images, where two are delivered, differs as %p', (images, difference) => {
    expect(usageDifference(anImageRequest({ images: 4 }), withUsage({ images }, 'a', 'b'))).toBe(difference);
  });

  test('of a call that is not done, or does not say, differs from nothing', () => {
    expect(usageDifference(aVideoRequest(), withUsage(undefined, 'a'))).toBeUndefined();
    expect(
      usageDifference(aVideoRequest(), anAttempt({ outcome: { kind: 'accepted', taskId: 'a' } })),
    ).toBeUndefined();
    expect(usageDifference(aVideoRequest(), anAttempt({}))).toBeUndefined();
  });
});
