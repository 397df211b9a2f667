import { expect, test } from '@jest/globals';
import { claimProbe } from '../../../../core/circuits/circuits.ts';
import { circuitKey } from '../../../../core/table/keys.ts';
import { at, NOW } from '../../builders/clocks.ts';
import { memory } from '../../fakes/fresh-table.ts';

const ROUTE = 'modelstudio/qwen-image';
/** The circuit of a route that is left out until then. */
const opened = (untilSeconds: number, more = {}) => ({
  ...{ cause: 'calls', openedAt: at(-60), openUntil: at(untilSeconds), pauseSeconds: 60 },
  ...more,
});
const triedBy = (probe: string, untilSeconds: number) => ({ probe, probeUntil: at(untilSeconds) });

test.each<[string, boolean, object]>([
  ['is in use', false, {}],
  ['is left out for another second', false, opened(1)],
  ['is left out until now', true, opened(0)],
  ['is left out by hand besides', false, opened(0, { leftAt: at(-5) })],
  ['another request tries', false, opened(-30, triedBy('img_other', 1))],
  ['another request tried until now', true, opened(-30, triedBy('img_other', 0))],
  ['the request tries already', true, opened(-30, triedBy('img_1', 60))],
])('a route that %s may be tried by a request: %p', async (_, isClaimed, circuit) => {
  memory.put(circuitKey(ROUTE), circuit);

  expect(await claimProbe(ROUTE, 'img_1', at(90), NOW)).toBe(isClaimed);

  const after = memory.get(circuitKey(ROUTE));
  expect(after).toMatchObject(isClaimed ? { probe: 'img_1', probeUntil: at(90) } : circuit);
});
