import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ModelRoutes } from '../../../core/provider-calls/model-routes.ts';
import { providerAccounts, providerAccountsOf, unknownAccountsIn } from '../../../lib/provider-accounts.ts';

const schema = providerAccounts(z.string());
const ADDRESSES = {
  modelArkBaseUrl: 'https://ark',
  modelStudioBaseUrl: 'https://studio',
  falBaseUrl: 'https://fal',
  modelStudioPreviousBaseUrl: 'https://before',
};
const accountsOf = (given: unknown) =>
  providerAccountsOf({ ...ADDRESSES, providerAccounts: schema.parse(given) }).filter(({ id }) =>
    id.startsWith('modelstudio'),
  );

describe('the accounts at a provider', () => {
  test('are its default one, and those named, where the default one is unless they say otherwise', () => {
    const eu = { name: 'eu', baseUrl: 'https://eu', previousBaseUrl: 'https://eu-before' };

    expect(accountsOf(undefined)).toEqual([
      { id: 'modelstudio', baseUrl: 'https://studio', previousBaseUrl: 'https://before' },
    ]);
    expect(
      accountsOf({ modelstudio: ['default', 'us', eu, { name: 'asia', baseUrl: 'https://asia' }] }),
    ).toEqual([
      { id: 'modelstudio', baseUrl: 'https://studio', previousBaseUrl: 'https://before' },
      { id: 'modelstudio@us', baseUrl: 'https://studio', previousBaseUrl: 'https://before' },
      { id: 'modelstudio@eu', baseUrl: 'https://eu', previousBaseUrl: 'https://eu-before' },
      { id: 'modelstudio@asia', baseUrl: 'https://asia', previousBaseUrl: undefined },
    ]);
  });

  test.each([
    { other: ['eu'] },
    { modelstudio: 'eu' },
    { modelstudio: ['EU'] },
    { modelstudio: ['a-b'] },
    { modelstudio: ['eu', 'eu'] },
    { modelstudio: [{ name: 'default', baseUrl: 'https://a' }] },
    { modelstudio: [{ name: 'eu', key: 'secret' }] },
  ])('are not %j', (given) => {
    expect(schema.safeParse(given).success).toBe(false);
  });

  test('are declared before a route leads there', () => {
    const routes = ModelRoutes.parse({
      'xW2.7S': ['modelstudio', 'modelstudio@eu'].map((provider) => ({
        provider,
        upstreamModel: 'wan2.7-i2v',
      })),
    });

    expect(unknownAccountsIn(routes, schema.parse({ modelstudio: ['eu'] }))).toEqual([]);
    expect(unknownAccountsIn(routes, schema.parse({ fal: ['eu'] }))).toEqual([
      'providerAccounts has no modelstudio@eu',
    ]);
  });
});
