import { describe, expect, test } from '@jest/globals';
import { findModel } from '../../../core/models/catalog.ts';
import { listModelSettings, putRate } from '../../../core/models/model-settings.ts';
import type { Rate } from '../../../core/models/rate-schemas.ts';
import { dispatchProblem } from '../../../core/provider-calls/model-routes.ts';
import { modelSettingsKey } from '../../../core/table/keys.ts';
import { withEnvironment } from '../builders/environment.ts';
import { memory } from '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

const { ops, json } = describeLocalRun();

const MODEL_ROUTES = JSON.stringify({ xQI3Pro: { provider: 'modelstudio', upstreamModel: 'qwen' } });
/** Why xQI3Pro cannot be dispatched; undefined when it can. */
const problem = () =>
  withEnvironment({ MODEL_ROUTES, MODELSTUDIO_BASE_URL: 'https://studio.example.com' }, async () => {
    const model = findModel('xQI3Pro');
    const settings = await listModelSettings();
    return model && dispatchProblem(model, settings.get('xQI3Pro'), new Set(['modelstudio']));
  });

describe('models', () => {
  test('disable switches a model off and enable on again', async () => {
    expect(await json('models', 'disable', '--model', 'xQI3Pro')).toEqual({ id: 'xQI3Pro', enabled: false });
    expect(await problem()).toMatch(/switched off/);

    expect(await json('models', 'enable', '--model', 'xQI3Pro')).toEqual({ id: 'xQI3Pro', enabled: true });
    expect(await problem()).toBeUndefined();
  });

  test('disable keeps the rate of the model', async () => {
    const rate: Rate = { perImage: [{ maxPixels: null, xTokens: 7 }] };
    await putRate('xQI3Pro', rate);

    await ops('models', 'disable', '--model', 'xQI3Pro');

    expect(memory.get(modelSettingsKey('xQI3Pro'))).toMatchObject({
      model: 'xQI3Pro',
      enabled: false,
      rate,
    });
  });

  test('prints two lines without --json', async () => {
    const { stdout } = await ops('models', 'disable', '--model', 'xQI3Pro');

    expect(stdout).toBe('model    xQI3Pro\nenabled  no\n');
  });

  test.each(['enable', 'disable'])('%s of an unknown model is refused and stores nothing', async (verb) => {
    expect(await ops('models', verb, '--model', 'xW9', '--json')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'There is no model xW9. List models with: models list\n',
    });
    expect(memory.get(modelSettingsKey('xW9'))).toBeUndefined();
  });
});
