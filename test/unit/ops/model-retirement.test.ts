import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { LedgerEntry } from '../../../core/ledger/ledger.ts';
import { listModelSettings, putEnabled } from '../../../core/models/model-settings.ts';
import { namesOfProvider, PROVIDER_IDS } from '../../../core/provider-names.ts';
import { accountKey, accountListing, ledgerEntryKey } from '../../../core/table/keys.ts';
import { systemClock } from '../../../core/time.ts';
import { NOW } from '../builders/clocks.ts';
import { aLedgerEntry, anAccount } from '../builders/entities.ts';
import { secrets } from '../fakes/fresh-secrets.ts';
import { memory } from '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

const route = (upstreamModel: string) => ({ provider: 'modelstudio', upstreamModel });
const ROUTES = {
  xQI3Pro: route('qwen'),
  'xZI1.0Pro': route('z-image'),
  'xW3.0sPro': route('wan'),
  'xSD4.5': { provider: 'modelark', upstreamModel: 'seedream' },
};
const { ops, json } = describeLocalRun({
  ModelRoutes: JSON.stringify(ROUTES),
  ...Object.fromEntries(
    PROVIDER_IDS.flatMap((id) => [
      [namesOfProvider(id).secretOutput, `arn:${id}-key`],
      [namesOfProvider(id).baseUrlOutput, `https://${id}.example`],
    ]),
  ),
});

const clock = jest.spyOn(systemClock, 'now');
beforeEach(() => {
  clock.mockReturnValue(NOW);
  secrets.set('arn:modelark-key', undefined);
});
afterEach(() => {
  clock.mockReset();
});
const later = (days: number): string => new Date(NOW.getTime() + days * 86_400_000).toISOString();
const stored = async (id: string) => (await listModelSettings()).get(id)?.retirement;
const retire = (...args: string[]) => json('models', 'retire', ...args);

describe('models retire', () => {
  test('sets the end of a model with its successor, keeps the first announcement, and takes it back', async () => {
    const announced = { id: 'xQI3Pro', announcedAt: NOW.toISOString() };
    expect(await retire('xQI3Pro', '--retires-at', '30d', '--replaced-by', 'xZI1.0Pro')).toEqual({
      ...{ ...announced, retiresAt: later(30), replacedBy: 'xZI1.0Pro' },
    });

    clock.mockReturnValue(new Date(later(1)));
    const moved = { ...announced, retiresAt: '2027-02-01T00:00:00.000Z' };
    expect(await retire('xQI3Pro', '--retires-at', '2027-02-01')).toEqual({ ...moved, replacedBy: null });
    expect(await stored('xQI3Pro')).toEqual({
      announcedAt: announced.announcedAt,
      retiresAt: moved.retiresAt,
    });

    const none = { id: 'xQI3Pro', announcedAt: null, retiresAt: null, replacedBy: null };
    expect(await retire('xQI3Pro', '--undo')).toEqual(none);
    expect(await stored('xQI3Pro')).toBeUndefined();
  });

  test('is recorded among the changes by staff', async () => {
    await retire('xQI3Pro', '--retires-at', '2027-02-01', '--replaced-by', 'xZI1.0Pro', '--actor', 'ada');
    await retire('xQI3Pro', '--undo', '--actor', 'ada');

    const change = { actor: 'ada', action: 'models retire', subject: 'xQI3Pro' };
    expect(await json('audit', 'list')).toEqual([
      expect.objectContaining({ ...change, detail: 'none' }),
      expect.objectContaining({ ...change, detail: 'at 2027-02-01T00:00:00.000Z, xZI1.0Pro' }),
    ]);
  });

  test('leaves the switch of a model as it is, and is left by it', async () => {
    await putEnabled('xQI3Pro', false);
    await retire('xQI3Pro', '--retires-at', '30d');
    await ops('models', 'enable', 'xQI3Pro');

    expect(await stored('xQI3Pro')).toMatchObject({ retiresAt: later(30) });
    expect((await listModelSettings()).get('xQI3Pro')?.enabled).toBe(true);
  });

  const END = ['--retires-at', '30d'];
  test.each<[string, string[], number, RegExp]>([
    ['no end', [], 2, /^Give --retires-at/],
    ['an end and none', [...END, '--undo'], 2, /--undo alone/],
    ['a successor and no end', ['--replaced-by', 'xZI1.0Pro', '--undo'], 2, /--undo alone/],
    ['an end that has passed', ['--retires-at', '2026-11-01'], 2, /has passed: models disable/],
    ['no time', ['--retires-at', 'soon'], 2, /date like 2027-01-31/],
    ['an unknown successor', [...END, '--replaced-by', 'xNone'], 2, /must be one of/],
    ['itself as successor', [...END, '--replaced-by', 'xQI3Pro'], 1, /^xQI3Pro cannot replace itself\.\n$/],
    ['a successor of videos', [...END, '--replaced-by', 'xW3.0sPro'], 1, /^xW3.0sPro makes videos/],
    [
      'a successor without a route',
      [...END, '--replaced-by', 'xSD5Pro'],
      1,
      /^xSD5Pro is not served: no upstream/,
    ],
    [
      'a successor without a key',
      [...END, '--replaced-by', 'xSD4.5'],
      1,
      /^xSD4.5 is not served: no credential/,
    ],
  ])('with %s is refused, and stores nothing', async (_, args, status, message) => {
    expect(await ops('models', 'retire', 'xQI3Pro', ...args, '--json')).toEqual({
      ...{ status, stdout: '' },
      stderr: expect.stringMatching(message),
    });
    expect(await stored('xQI3Pro')).toBeUndefined();
  });

  test('refuses a successor that is off, or ends no later, and an end before that of a model to be replaced', async () => {
    const refusal = async (...args: string[]) => (await ops('models', 'retire', ...args)).stderr;
    await putEnabled('xZI1.0Pro', false);
    expect(await refusal('xQI3Pro', ...END, '--replaced-by', 'xZI1.0Pro')).toMatch(/switched off/);
    await putEnabled('xZI1.0Pro', true);
    await retire('xZI1.0Pro', ...END);
    expect(await refusal('xQI3Pro', ...END, '--replaced-by', 'xZI1.0Pro')).toMatch(/itself retires at/);
    await retire('xZI1.0Pro', '--undo');
    await retire('xQI3Pro', ...END, '--replaced-by', 'xZI1.0Pro');

    expect(await refusal('xZI1.0Pro', '--retires-at', '20d')).toMatch(/xZI1.0Pro is to replace xQI3Pro/);
    clock.mockReturnValue(new Date(later(31)));
    expect(await refusal('xSD4.5', '--retires-at', '90d', '--replaced-by', 'xQI3Pro')).toMatch(
      /was retired at/,
    );
  });

  test('is shown by models list: before the end beside its reason, after it as the reason', async () => {
    await retire('xQI3Pro', ...END, '--replaced-by', 'xZI1.0Pro');
    const row = async () =>
      ((await json('models', 'list')) as { id: string }[]).find(({ id }) => id === 'xQI3Pro');
    const shown = { retiresAt: later(30), replacedBy: 'xZI1.0Pro' };

    expect(await row()).toMatchObject({ dispatchable: true, reason: null, ...shown });
    expect((await ops('models', 'list')).stdout).toMatch(/xQI3Pro .* yes +yes +retires at 20/);
    clock.mockReturnValue(new Date(later(30)));
    expect(await row()).toMatchObject({
      ...{ enabled: true, dispatchable: false, ...shown },
      reason: `was retired at ${later(30)}: use xZI1.0Pro`,
    });
  });
});

describe('models uses', () => {
  /** An account with debits of these models so many days ago. */
  const putAccount = (accountId: string, name: string, debits: [model: string, daysAgo: number][]): void => {
    const account = anAccount({ accountId, name, ledgerEntries: debits.length });
    memory.put(accountKey(accountId), { ...accountListing(accountId, account.createdAt), ...account });
    for (const [index, [model, daysAgo]] of debits.entries()) {
      const entry = { reason: 'generation', type: 'debit', model, amountThousandths: 4_000 } as const;
      const createdAt = later(-daysAgo);
      const own: Partial<LedgerEntry> = { accountId, createdAt, ...entry };
      memory.put(ledgerEntryKey(accountId, index + 1), aLedgerEntry(index + 1, own));
    }
  };
  const id = (index: number): string => `acc_01JD4KXQ8M00000000000000${String(index).padStart(2, '0')}`;

  test('lists every account of the last 30 days, the most requests first, and no other', async () => {
    putAccount(id(0), 'before', [['xQI3Pro', 31]]);
    putAccount(id(1), 'other', [['xSD4.5', 1]]);
    putAccount(id(2), 'once', [
      ['xQI3Pro', 40],
      ['xQI3Pro', 29],
      ['xSD4.5', 2],
    ]);
    putAccount(id(3), 'twice', [
      ['xQI3Pro', 3],
      ['xQI3Pro', 0],
    ]);

    expect(await json('models', 'uses', 'xQI3Pro')).toEqual([
      { accountId: id(3), name: 'twice', requests: 2, xTokens: 8, lastUsedOn: later(0).slice(0, 10) },
      { accountId: id(2), name: 'once', requests: 1, xTokens: 4, lastUsedOn: later(-29).slice(0, 10) },
    ]);
    expect((await ops('models', 'uses', '--model', 'xQI3Pro')).stdout).toMatch(/^ACCOUNT +NAME +REQUESTS/);
  });

  test('is complete beyond a page of accounts and of entries', async () => {
    memory.itemsPerQuery = 5;
    const debits = Array.from({ length: 12 }, (): [string, number] => ['xQI3Pro', 1]);
    for (let index = 0; index < 13; index++) putAccount(id(index), `a${index}`, debits);

    const found = (await json('models', 'uses', 'xQI3Pro')) as { requests: number }[];

    expect(found.map(({ requests }) => requests)).toEqual(Array(13).fill(12));
  });

  test('of an unknown model is refused', async () => {
    expect(await ops('models', 'uses', 'xNone')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/no model xNone/),
    });
  });
});
