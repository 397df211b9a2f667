import { createRequire } from 'node:module';

/** The order in which jest runs test files by itself. Its types are those of CommonJS, and an import of it would load another build. */
export const { default: Sequencer }: typeof import('@jest/test-sequencer') = createRequire(import.meta.url)(
  '@jest/test-sequencer',
);
