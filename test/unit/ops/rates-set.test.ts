import { beforeEach, describe, expect, test } from '@jest/globals';
import { accountKey, modelSettingsKey } from '../../../core/table/keys.ts';
import { ACCOUNT_ID, anAccount, putModelSettings } from '../builders/entities.ts';
import { memory } from '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

const run = describeLocalRun();
const set = (value: string, ...options: string[]) =>
  run.ops('rates', 'set', 'xQI3Pro', '--value', value, '--json', ...options);
const tiers = (small: number, large: number) =>
  JSON.stringify([
    { maxPixels: 2_250_000, xTokens: small },
    { maxPixels: null, xTokens: large },
  ]);
const stored = () => memory.get(modelSettingsKey('xQI3Pro'));

beforeEach(() => {
  putModelSettings(memory, { model: 'xQI3Pro', rate: { perImage: JSON.parse(tiers(4, 6)) } });
});

describe('a rate that is set', () => {
  test.each([
    ['twice the price in one tier', tiers(8, 6)],
    ['a thousandth of the price', tiers(0.004, 0.006)],
    ['one tier in place of two', '[{"maxPixels":null,"xTokens":7}]'],
  ])('is stored without a question when it is %s', async (_, value) => {
    expect(await set(value)).toMatchObject({ status: 0 });
    expect(stored()).toMatchObject({ rate: { perImage: JSON.parse(value) } });
  });

  test.each([
    ['more than twice the price in its dearest tier', tiers(4, 12.001), '12.001 instead of 6'],
    ['ten times the price in one tier', tiers(40, 6), '40 instead of 4'],
    ['dearer for sizes of a former tier', '[{"maxPixels":null,"xTokens":9}]', '9 instead of 4'],
  ])('needs --yes when it is %s, and says the prices', async (_, value, prices) => {
    const refused = await set(value);

    expect(refused).toEqual({ status: 2, stdout: '', stderr: expect.stringContaining(prices) });
    expect(refused.stderr).toMatch(/Give --yes/);
    expect(stored()).toMatchObject({ rate: { perImage: JSON.parse(tiers(4, 6)) } });
    expect(await set(value, '--yes')).toMatchObject({ status: 0 });
    expect(stored()).toMatchObject({ rate: { perImage: JSON.parse(value) } });
  });

  test('prints what was in force, what is now, and the factor', async () => {
    const { stdout } = await run.ops('rates', 'set', 'xQI3Pro', '--value', tiers(5, 3));

    expect(stdout).toMatch(/before +now +factor/i);
    expect(stdout).toMatch(/2,250,000 pixels +4 +5 +1\.25/);
    expect(stdout).toMatch(/any size +6 +3 +0\.5/);
  });

  test('of an account is compared with what it pays now; the general rate again needs no question', async () => {
    memory.put(accountKey(ACCOUNT_ID), anAccount({ rates: { xQI3Pro: { factorThousandths: 100 } } }));
    const ofAccount = (...options: string[]) =>
      run.ops('rates', 'set', 'xQI3Pro', '--account', ACCOUNT_ID, '--json', ...options);

    expect(await ofAccount('--factor', '0.201')).toMatchObject({ status: 2 });
    const { stdout } = await ofAccount('--factor', '0.2');
    expect(JSON.parse(stdout)).toMatchObject({
      source: 'factor 0.2',
      perImage: [{ xTokens: 0.8 }, { xTokens: 1.2 }],
    });
    expect(await ofAccount('--none')).toMatchObject({ status: 0 });
    expect(memory.get(accountKey(ACCOUNT_ID))).toMatchObject({ rates: {} });
  });
});
