import { KILL_POINTS } from '../contract/support/kill-points.ts';
import { testKills } from '../contract/support/kill-suite.ts';

testKills(KILL_POINTS);
