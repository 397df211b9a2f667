import { bugs } from '../mutant.ts';

/** Bugs in what providers are asked and how they are heard. */
export const PROVIDERS = bugs('providers', [
  [
    'a callback of fal needs no signature',
    'providers/callback-checks.ts',
    "if (!check) return 'genuine';",
    "if (!check || provider === 'fal') return 'genuine';",
  ],
  [
    'images beyond the first call to fal are not asked for',
    'providers/fal/images.ts',
    'Math.ceil(total / most)',
    'Math.max(1, Math.floor(total / most))',
  ],
  [
    "fal calls a model's maker again by itself",
    'providers/fal/fal.ts',
    "'x-fal-no-retry': '1',",
    "'x-fal-no-retry': '0',",
  ],
  [
    'a task at fal is finished before its result is there',
    'providers/fal/results.ts',
    'const STILL_RUNS = /still in progress/i;',
    'const STILL_RUNS = /never/i;',
  ],
]);
