import { testFuzzed } from './support/fuzz-suite.ts';

// Three times as many rounds are in test/long/fuzz.test.ts.
testFuzzed(80, 0);
