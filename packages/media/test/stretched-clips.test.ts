import { expect, test } from '@jest/globals';
import { longestOf } from './measured.ts';
import { STRETCHED_CLIPS } from './stretched-clips.ts';

test.each(Object.entries(STRETCHED_CLIPS))(
  'a clip of 13 s or more is that long, with %s',
  async (_, make) => {
    expect(await longestOf(await make())).toBeGreaterThanOrEqual(12.9);
  },
);
