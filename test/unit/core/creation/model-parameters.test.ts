import { describe, expect, test } from '@jest/globals';
import { parseImageRequest } from '../../../../core/creation/create-image-rules.ts';
import { parseVideoRequest } from '../../../../core/creation/create-video-rules.ts';
import { CATALOG } from '../../../../core/models/catalog.ts';
import { PARAMETERS, type Parameter } from '../../../../core/models/model-parameters.ts';

const VALUES: Record<Parameter, unknown> = {
  seed: 4711,
  negativePrompt: 'fog',
  generateAudio: false,
  promptExtend: false,
};

const parse = (model: string, more: Record<string, unknown>) => {
  const entry = CATALOG.find(({ id }) => id === model);
  const body = { model, prompt: 'waves', endUserEmail: 'ada@example.com', ...more };
  if (entry?.type === 'image') return parseImageRequest(body, false);
  const image = entry?.requiresImage ? { image: 'https://example.com/a.png' } : {};
  return parseVideoRequest({ ...image, ...body }, false);
};
const wrongIn = (model: string, more: Record<string, unknown>) => {
  const parsed = parse(model, more);
  return parsed.ok ? {} : parsed.error.fields;
};

const EACH = CATALOG.flatMap((model) => PARAMETERS.map((name) => [model.id, name, model] as const));

describe('a parameter of a creation', () => {
  test.each(EACH)(
    'of %s, %s, is taken where the catalog has it, and refused by its name elsewhere',
    (id, name, model) => {
      const isTaken = model.parameters?.some((one) => one.name === name) === true;
      const parsed = parse(id, { [name]: VALUES[name] });

      if (isTaken) expect(parsed).toMatchObject({ ok: true, creation: { [name]: VALUES[name] } });
      else expect(Object.keys(parsed.ok ? {} : (parsed.error.fields ?? {}))).toEqual([name]);
    },
  );

  test.each(CATALOG.map((model) => [model.id, model] as const))(
    'of %s is judged by itself, beside all others that the model takes',
    (id, { parameters = [] }) => {
      const all = Object.fromEntries(parameters.map(({ name }) => [name, VALUES[name]]));

      expect(parse(id, all)).toMatchObject({ ok: true, creation: all });
    },
  );

  test.each<[string, Record<string, unknown>, Record<string, string>]>([
    ['xQI3Pro', { seed: -1 }, { seed: 'must be from 0 to 2147483647' }],
    ['xQI3Pro', { seed: 2_147_483_648 }, { seed: 'must be from 0 to 2147483647' }],
    ['xQI3Pro', { seed: 1.5 }, { seed: 'must be a whole number' }],
    ['xQI3Pro', { seed: '7' }, { seed: 'must be a whole number' }],
    ['xQI3Pro', { seed: null }, { seed: 'must be a whole number' }],
    ['xQI3Pro', { negativePrompt: ' ' }, { negativePrompt: 'must not be empty' }],
    ['xQI3Pro', { negativePrompt: 7 }, { negativePrompt: 'must be a string' }],
    ['xQI3Pro', { negativePrompt: 'é'.repeat(501) }, { negativePrompt: 'must be at most 500 characters' }],
    ['xQI3Pro', { promptExtend: 'true' }, { promptExtend: 'must be true or false' }],
    ['xQI3Pro', { generateAudio: true }, { generateAudio: 'is not a known field' }],
    ['xW3.0s', { generateAudio: 1 }, { generateAudio: 'must be true or false' }],
    ['xW3.0s', { negativePrompt: 'fog' }, { negativePrompt: 'xW3.0s takes none' }],
    ['xSD4.5', { seed: 1 }, { seed: 'xSD4.5 takes none' }],
  ])('of %s out of its range, %j, is refused by its name', (model, given, fields) => {
    expect({ ...wrongIn(model, given) }).toEqual(fields);
  });

  test.each([0, 2_147_483_647])('is taken at each end of its range: %i', (seed) => {
    expect(parse('xQI3Pro', { seed })).toMatchObject({ ok: true, creation: { seed } });
  });

  test('that is text is trimmed, and counted in characters', () => {
    expect(parse('xW2.7S', { negativePrompt: ` ${'😀'.repeat(500)}\n` })).toMatchObject({
      ok: true,
      creation: { negativePrompt: '😀'.repeat(500) },
    });
  });
});
