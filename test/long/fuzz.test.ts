import { testFuzzed } from '../contract/support/fuzz-suite.ts';

testFuzzed(240, 5);
