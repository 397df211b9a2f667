import { expect, jest, test } from '@jest/globals';
import { routeLimitKey } from '../../../../core/table/keys.ts';

/** What happens in each pause. */
let inPause = (): void => undefined;
jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: jest.fn(async () => inPause()) }));
const { FIRST, memory, TwoRoutes } = await import('./two-routes.ts');

test('a request is the one that tries a paused route before it waits for its start there', async () => {
  const two = new TwoRoutes();
  two.configure(FIRST, { requestsPerSecond: 1 });
  memory.put(routeLimitKey(FIRST), { nextStartMs: Date.parse(two.in(3)) });
  two.pause(FIRST, { forSeconds: -1 });
  two.pause('fal/two', { forSeconds: 300 });
  const triedUntil: unknown[] = [];
  inPause = () => {
    triedUntil.push(two.state(FIRST)?.pausedUntil);
  };

  await two.dispatch();

  expect(triedUntil).toEqual([two.in(60)]);
  expect(two.called).toEqual([FIRST]);
});
