import { describe, expect, test } from '@jest/globals';
import {
  callsBackFor,
  isProviderId,
  makerOf,
  namesOfProvider,
  routeNameOf,
} from '../../../core/provider-names.ts';

describe('an account at a provider', () => {
  test.each([
    ['modelstudio', true],
    ['modelstudio@eu', true],
    ['fal@b2', true],
    ['modelstudio@', false],
    ['modelstudio@EU', false],
    ['modelstudio@2b', false],
    ['modelstudio@a@b', false],
    ['modelstudio@abcdefghijklmnopqrstu', false],
    ['other@eu', false],
    ['constructor', false],
    ['', false],
  ])('may be called %j: %p', (text, is) => {
    expect(isProviderId(text)).toBe(is);
  });

  test('of a maker by default has its plain names', () => {
    expect(namesOfProvider('modelark')).toEqual({
      baseUrlVariable: 'MODELARK_BASE_URL',
      previousBaseUrlVariable: 'MODELARK_PREVIOUS_BASE_URL',
      secretVariable: 'MODELARK_SECRET_ARN',
      keyVariable: 'MODELARK_API_KEY',
      baseUrlContextKey: 'modelArkBaseUrl',
      previousBaseUrlContextKey: 'modelArkPreviousBaseUrl',
      baseUrlOutput: 'ModelArkBaseUrl',
      secretOutput: 'ModelArkSecretName',
    });
    expect(makerOf('modelark')).toBe('modelark');
  });

  test.each([
    ['modelark', [false, true]],
    ['modelstudio', [false, false]],
    ['fal@b2', [true, true]],
    ['other', [false, false]],
  ])('%s calls back about images and videos: %j', (provider, expected) => {
    expect((['image', 'video'] as const).map((kind) => callsBackFor(provider, kind))).toEqual(expected);
  });

  test('has names of its own, and the callbacks of its maker', () => {
    expect(namesOfProvider('modelstudio@eu')).toMatchObject({
      baseUrlVariable: 'MODELSTUDIO_BASE_URL_EU',
      previousBaseUrlVariable: 'MODELSTUDIO_PREVIOUS_BASE_URL_EU',
      secretVariable: 'MODELSTUDIO_SECRET_ARN_EU',
      keyVariable: 'MODELSTUDIO_API_KEY_EU',
      baseUrlOutput: 'ModelStudioBaseUrlEu',
      secretOutput: 'ModelStudioSecretNameEu',
    });
    expect(makerOf('modelstudio@eu')).toBe('modelstudio');
    expect(callsBackFor('modelark@eu', 'video')).toBe(true);
    expect(callsBackFor('modelstudio@eu', 'video')).toBe(false);
    expect(callsBackFor('other@eu', 'video')).toBe(false);
    expect(routeNameOf({ provider: 'modelstudio@eu', upstreamModel: 'wan2.7-t2v' })).toBe(
      'modelstudio@eu/wan2.7-t2v',
    );
  });
});
