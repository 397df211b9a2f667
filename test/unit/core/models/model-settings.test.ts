import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  aliasesIn,
  currentModelSettings,
  listModelSettings,
  putAlias,
  putEnabled,
  putRate,
  putRouteCost,
  routeCostsIn,
} from '../../../../core/models/model-settings.ts';
import { modelSettingsKey } from '../../../../core/table/keys.ts';
import { NOW } from '../../builders/clocks.ts';
import { putModelSettings } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

let start = NOW.getTime();
beforeEach(() => {
  // Settings are cached for 5 s, so each test starts an hour later.
  start += 3_600_000;
});
const later = (seconds: number): Date => new Date(start + seconds * 1000);
const rate = { perImage: [{ maxPixels: null, xTokens: 3 }] };
const DISABLED = { model: 'xQI3Pro', enabled: false };

describe('the settings of a model', () => {
  test('are set one by one, leaving the others as they are', async () => {
    putModelSettings(memory, DISABLED);
    await putRate('xQI3Pro', rate);
    await putRate('xSD4.5', rate);

    expect(await listModelSettings()).toEqual(
      new Map([
        ['xQI3Pro', { ...DISABLED, rate }],
        ['xSD4.5', { model: 'xSD4.5', rate }],
      ]),
    );
    expect(memory.client.commandCalls(QueryCommand)[0]?.args[0].input.ConsistentRead).toBe(true);
  });

  test.each<[string, object]>([
    ['a rate of another version', { rate: { perImage: [{ maxPixels: null, xTokens: 3, from: 'noon' }] } }],
    ['no model', { model: undefined, rate }],
  ])('with %s switch that model off, at no price, and no other', async (_what, odd) => {
    putModelSettings(memory, { model: 'xSD4.5', rate });
    putModelSettings(memory, { model: 'xQI3Pro', rate });
    memory.patch(modelSettingsKey('xQI3Pro'), odd);

    expect(await listModelSettings()).toEqual(
      new Map<string, unknown>([
        ['xSD4.5', { model: 'xSD4.5', rate }],
        ['xQI3Pro', DISABLED],
      ]),
    );
  });

  test('hold what routes cost, each set and taken back on its own', async () => {
    await putRouteCost('one', rate);
    await putRouteCost('other', rate);
    await putRouteCost('one', undefined);

    expect(routeCostsIn(await listModelSettings())).toEqual({ other: rate });
  });

  test('hold the aliases of models, each set and removed on its own, beside the costs of routes', async () => {
    await putRouteCost('one', rate);
    await putAlias('gpt-image-1', 'xSD4.5');
    await putAlias('dall-e-3', 'xSD4.5');
    await putAlias('gpt-image-1', 'xQI3Pro');
    await putAlias('dall-e-3', undefined);

    const settings = await listModelSettings();
    expect(aliasesIn(settings)).toEqual({ 'gpt-image-1': 'xQI3Pro' });
    expect(routeCostsIn(settings)).toEqual({ one: rate });
  });

  test('are absent when none were set', async () => {
    expect(await listModelSettings()).toEqual(new Map());
  });

  test('are read once in 5 s by what the API does, so that a change takes effect within that time', async () => {
    expect(await currentModelSettings(later(0))).toEqual(new Map());
    await putEnabled('xQI3Pro', false);

    expect(await currentModelSettings(later(4.999))).toEqual(new Map());
    expect(await currentModelSettings(later(5))).toEqual(new Map([['xQI3Pro', DISABLED]]));
    await currentModelSettings(later(9.999));
    expect(memory.client.commandCalls(QueryCommand)).toHaveLength(2);
  });
});
