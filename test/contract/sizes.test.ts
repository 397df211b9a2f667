import { beforeAll, describe, expect, test } from '@jest/globals';
import { wrongFields } from './support/answers.ts';
import { anUndrawnGeneration, type Caller, newCaller, sharedService } from './support/client.ts';

let caller: Caller;
beforeAll(async () => {
  caller = await newCaller(await sharedService());
});

const create = (body: Record<string, unknown>) => caller.post('/v1/generations', anUndrawnGeneration(body));

describe('An explicit size just inside a bound is accepted and one just outside is refused', () => {
  test.each([
    ['xSD4.5', 'fewest pixels', '2560x1440', '2559x1440'],
    ['xSD4.5', 'most pixels', '4096x4096', '4097x4096'],
    ['xSD4.5', 'widest', '7680x480', '7681x480'],
    ['xSD4.5', 'tallest', '480x7680', '480x7681'],
    ['xSD5Pro', 'fewest pixels', '1280x720', '1279x720'],
    ['xSD5Pro', 'most pixels', '1132x4085', '1133x4085'],
    ['xSD5Pro', 'widest', '3840x240', '3841x240'],
    ['xSD5Pro', 'tallest', '240x3840', '240x3841'],
    ['xQI3Pro', 'fewest pixels', '512x512', '511x513'],
    ['xQI3Pro', 'most pixels', '2048x2048', '2047x2050'],
    ['xQI3Pro', 'widest', '1456x182', '1457x182'],
    ['xQI3Pro', 'tallest', '182x1456', '182x1457'],
    // The side bounds of this model lie within its pixel and ratio bounds, which they meet at these corners.
    ['xZI1.0Pro', 'fewest pixels', '256x256', '256x255'],
    ['xZI1.0Pro', 'most pixels', '2560x2560', '2560x2561'],
    ['xZI1.0Pro', 'widest', '2560x256', '2560x255'],
    ['xZI1.0Pro', 'tallest', '256x2560', '255x2560'],
    ['xZI1.0Pro', 'shortest width', '256x1024', '255x1024'],
    ['xZI1.0Pro', 'shortest height', '1024x256', '1024x255'],
    ['xZI1.0Pro', 'longest width', '2560x1024', '2561x1024'],
    ['xZI1.0Pro', 'longest height', '1024x2560', '1024x2561'],
  ])('%s, %s: %s but not %s', async (model, _bound, inside, outside) => {
    expect((await create({ model, size: inside })).status).toBe(202);
    expect(wrongFields(await create({ model, size: outside }))).toEqual(['size']);
  });
});

const PRESETS = ['1K', '1.5K', '2K', '4K'];

describe('A preset of the model is accepted and any other is refused', () => {
  test.each([
    ['xSD4.5', ['2K', '4K']],
    ['xSD5Pro', ['1K', '1.5K', '2K']],
    ['xQI3Pro', ['1K', '1.5K', '2K']],
    ['xZI1.0Pro', ['1K', '2K']],
  ])('%s takes %j', async (model, presets) => {
    const accepted: string[] = [];
    for (const size of PRESETS) {
      const answer = await create({ model, size });
      if (answer.status === 202) accepted.push(size);
      else expect(wrongFields(answer)).toEqual(['size']);
    }

    expect(accepted).toEqual(presets);
  });
});

describe('A size is a preset or <width>x<height> in whole pixels', () => {
  test.each([
    '2k',
    '3K',
    '2048',
    '2048x',
    'x2048',
    '2048X2048',
    '2048×2048',
    '2048 x 2048',
    ' 2048x2048',
    '2048x2048\n',
    '2048.5x2048',
    '2.048e3x2048',
    '-2048x-2048',
    '0x0',
    '2048x2048x2048',
    '99999999999999999999x1',
    'constructor',
    '',
  ])('%j is neither', async (size) => {
    expect(wrongFields(await create({ model: 'xSD4.5', size }))).toEqual(['size']);
  });
});

describe('aspectRatio', () => {
  test.each(['auto', 'square', 'landscape', 'portrait'])(
    '%s is accepted with a preset',
    async (aspectRatio) => {
      expect((await create({ size: '1K', aspectRatio })).status).toBe(202);
      expect((await create({ aspectRatio })).status).toBe(202);
    },
  );

  test('auto is accepted with an explicit size', async () => {
    expect((await create({ size: '512x512', aspectRatio: 'auto' })).status).toBe(202);
  });

  test.each(['square', 'landscape', 'portrait'])(
    '%s is refused with an explicit size',
    async (aspectRatio) => {
      expect(wrongFields(await create({ size: '512x512', aspectRatio }))).toEqual(['aspectRatio']);
    },
  );

  test.each(['16:9', 'Auto', 'AUTO ', ''])('%j is not an aspect ratio', async (aspectRatio) => {
    expect(wrongFields(await create({ aspectRatio }))).toEqual(['aspectRatio']);
  });
});
