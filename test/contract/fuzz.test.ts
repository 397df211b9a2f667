import { testFuzzed } from './support/fuzz-suite.ts';

// Twice as many rounds are in test/long/fuzz.test.ts.
testFuzzed(120, 0);
