import { testFuzzed } from './support/fuzz-suite.ts';

// test/long/fuzz.test.ts runs twice as many rounds.
testFuzzed(120, 0);
