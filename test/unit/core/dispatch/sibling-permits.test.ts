import { expect, test } from '@jest/globals';
import type { ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { permitAttribute, routeLimitKey } from '../../../../core/table/keys.ts';
import { REQUEST_ID } from '../../builders/entities.ts';
import { ACCEPTED, FIRST, INVALID, LOST_ANSWER, memory, THROTTLED, TwoRoutes } from './two-routes.ts';

/**
 * Whether a request has its permit after the given runs. A run is a list of the answers to the request's calls, in
 * order.
 */
const hasPermitAfter = async (...runs: ProviderAnswer[][]): Promise<boolean> => {
  const two = new TwoRoutes();
  two.configure(FIRST, { maxRunning: 3 });
  two.calls[FIRST] = runs[0]?.length ?? 0;
  let answers: ProviderAnswer[] = [];
  Object.defineProperty(two.answers, FIRST, { get: () => answers.shift() });
  for (const run of runs) {
    answers = [...run];
    await two.dispatch();
    expect(answers).toEqual([]);
    two.clock.advance(45);
  }
  return memory.get(routeLimitKey(FIRST))?.[permitAttribute(REQUEST_ID)] !== undefined;
};

test.each<[string, ProviderAnswer[][]]>([
  ['the first', [[ACCEPTED, INVALID, INVALID]]],
  ['the second', [[INVALID, ACCEPTED, LOST_ANSWER]]],
  ['the last', [[INVALID, LOST_ANSWER, ACCEPTED]]],
  ['the first, of a run before', [[ACCEPTED, THROTTLED], [INVALID]]],
  ['the last, of a run before', [[THROTTLED, ACCEPTED], [LOST_ANSWER]]],
])('a request keeps its permit while a task of one of its calls is open: of %s', async (_, runs) => {
  expect(await hasPermitAfter(...runs)).toBe(true);
});

test('a request without an open task gives its permit back once all its calls have ended', async () => {
  expect(await hasPermitAfter([INVALID, THROTTLED], [LOST_ANSWER])).toBe(false);
});
