import { describe, expect, test } from '@jest/globals';
import { aliasesIn, listModelSettings } from '../../../core/models/model-settings.ts';
import '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

const { ops, json } = describeLocalRun();
const stored = async () => aliasesIn(await listModelSettings());

describe('models alias', () => {
  test('set gives a model another name, changes that, and remove takes the name away', async () => {
    const set = ['models', 'alias', 'set', 'gpt-image-1', '--model'];
    expect(await json('models', 'alias', 'list')).toEqual([]);
    expect(await json(...set, 'xSD4.5')).toEqual({ alias: 'gpt-image-1', model: 'xSD4.5' });
    await json('models', 'alias', 'set', 'dall-e-3', 'xSD5Pro');
    await json(...set, 'xQI3Pro');

    expect(await json('models', 'alias', 'list')).toEqual([
      { alias: 'dall-e-3', model: 'xSD5Pro' },
      { alias: 'gpt-image-1', model: 'xQI3Pro' },
    ]);
    expect(await json('models', 'alias', 'remove', 'gpt-image-1')).toEqual({
      alias: 'gpt-image-1',
      model: null,
    });
    expect(await stored()).toEqual({ 'dall-e-3': 'xSD5Pro' });
  });

  test('is recorded among the changes by staff', async () => {
    await ops('models', 'alias', 'set', 'gpt-image-1', '--model', 'xSD4.5', '--actor', 'ada');
    await ops('models', 'alias', 'remove', 'gpt-image-1', '--actor', 'ada');

    expect(await json('audit', 'list')).toEqual([
      expect.objectContaining({ actor: 'ada', action: 'models alias remove', subject: 'gpt-image-1' }),
      expect.objectContaining({ action: 'models alias set', subject: 'gpt-image-1', detail: 'model xSD4.5' }),
    ]);
  });

  test.each<[string, string[], number, RegExp]>([
    [
      'a model of videos',
      ['set', 'gpt-image-1', '--model', 'xW3.0s'],
      1,
      /no image model xW3.0s\. List models/,
    ],
    ['an unknown model', ['set', 'gpt-image-1', '--model', 'xNone'], 1, /no image model xNone\./],
    ['the id of a model', ['set', 'xQI3Pro', '--model', 'xSD4.5'], 2, /xQI3Pro is a model itself/],
    ['a name with a blank', ['set', 'gpt image', '--model', 'xSD4.5'], 2, /must be a name like gpt-image-1/],
    ['a name of a prototype', ['set', '__proto__', '--model', 'xSD4.5'], 2, /must be a name/],
    ['no model', ['set', 'gpt-image-1'], 2, /ops models alias set gpt-image-1 xQI3Pro, or --model xQI3Pro/],
    [
      'an alias that is not there',
      ['remove', 'constructor'],
      1,
      /no alias constructor\. List aliases with: models alias list/,
    ],
  ])('of %s is refused', async (_, args, status, message) => {
    expect(await ops('models', 'alias', ...args, '--json')).toEqual({
      ...{ status, stdout: '' },
      stderr: expect.stringMatching(message),
    });
    expect(await stored()).toEqual({});
  });
});
