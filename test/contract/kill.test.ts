import { KILL_POINTS } from './support/kill-points.ts';
import { testKills } from './support/kill-suite.ts';

// The other kill points are in test/long/kill.test.ts.
testKills(KILL_POINTS.filter(({ isQuick }) => isQuick));
