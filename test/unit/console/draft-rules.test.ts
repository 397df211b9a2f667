import { describe, expect, test } from '@jest/globals';
import { carriedValues, givenIn, urlsIn } from '../../../console/make/draft-rules.ts';
import { type CatalogModel, findModel } from '../../../core/models/catalog.ts';
import type { Model } from '../../../packages/client/src/types.ts';

const modelOf = (id: string): Model => findModel(id) as CatalogModel as Model;
const SHOWN = { prompt: 'a lighthouse', endUserEmail: 'ada@example.com' };
const UPLOAD = 'https://files.example.com/uploads/gbpU19FWWdFhTOE9z0hoQy/upl_01M8CMXHJ3TZC8MEXZF0JEPFYX.png';
const OUTPUT = 'https://files.example.com/outputs/img_01M8CMXHJ3TZC8MEXZF0JEPFYX/0.png';

describe('an address', () => {
  test.each(['', 'model=xW3.0s', 'model=xW3.0s&prompt='])(
    'that names no field gives nothing: %s',
    (query) => {
      expect(givenIn(new URLSearchParams(query))).toBeUndefined();
    },
  );

  test('gives the fields that it names, and says whether they come from an earlier request', () => {
    expect(givenIn(new URLSearchParams('model=xW3.0s&prompt=waves&n='))).toEqual({
      values: { prompt: 'waves' },
      isReused: false,
    });
    expect(givenIn(new URLSearchParams('model=xW3.0s&prompt=waves&reused=1'))?.isReused).toBe(true);
  });
});

test('URLs that lead elsewhere may lack a signature; files of the service need none', () => {
  const values = {
    image: 'https://example.com/a.png',
    references: `${UPLOAD}\n${OUTPUT}\nhttps://example.com/b`,
    n: '2',
  };

  expect(urlsIn(values)).toEqual(['https://example.com/a.png', 'https://example.com/b']);
});

describe('the form of another model', () => {
  test('has the prompt and the end-user that were shown, and its own settings', () => {
    const own = { prompt: 'an old one', resolution: '480p' };

    expect(carriedValues({ ...SHOWN, size: '4K' }, modelOf('xW3.0s'), own)).toEqual({
      ...SHOWN,
      ...{ resolution: '480p' },
    });
  });

  test('gets a file that it takes, and no value that it refuses', () => {
    const carried = carriedValues(
      { ...SHOWN, image: UPLOAD, resolution: '480p', durationSec: '20' },
      modelOf('xW2.7S'),
      {},
    );

    expect(carried.image).toBe(UPLOAD);
    expect(carried).not.toHaveProperty('resolution');
    expect(carried).not.toHaveProperty('durationSec');
  });

  test('keeps what was typed into it, also where that is wrong', () => {
    expect(carriedValues(SHOWN, modelOf('xW2.7S'), { durationSec: '99' }).durationSec).toBe('99');
  });

  test('keeps a prompt that is too long: it was written', () => {
    const prompt = 'x'.repeat(5_000);

    expect(carriedValues({ ...SHOWN, prompt }, modelOf('xSD4.5'), {}).prompt).toBe(prompt);
  });
});
