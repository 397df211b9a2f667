import { beforeEach, expect, jest, test } from '@jest/globals';
import { permitAttribute, routeLimitKey } from '../../../../core/table/keys.ts';
import { anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

/** What happens in each pause. */
let inPause = (): void => undefined;
const pause = jest.fn(async (_milliseconds: number) => inPause());
jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: pause }));
const { startWith } = await import('../../../../core/admission/admission.ts');
const { at } = await import('./a-route.ts');
beforeEach(() => {
  inPause = () => undefined;
  pause.mockClear();
});

test.each([
  ['a new start at a route with a rate alone costs no write', { requestsPerSecond: 1 }, true, 0],
  ['the permit with which a request was admitted there ends', { requestsPerSecond: 1 }, false, 1],
  ['a new permit of a route with a limit of running calls stays', { maxRunning: 1 }, true, 0],
  ['so does the permit with which a request was admitted there', { maxRunning: 1 }, false, 0],
])('%s: with %j, new: %p, writes: %p', (_, limits, isNew, writes) =>
  at(limits, async ({ limit, clock }) => {
    const permit = { accountId: 'a', weight: 1, takenMs: clock.now().getTime() };

    await startWith(anImageRequest(), { limit, permit, isNew }, clock);

    expect(memory.calls().UpdateCommand ?? 0).toBe(writes);
  }),
);

test.each([
  [-1_000, []],
  [0, []],
  [1, [1]],
  [5_000, [5_000]],
  [3_600_000, [5_000]],
])('a start in %p ms is waited for: %j. No permit is given for later than 5 s', (startsInMs, expected) =>
  at({ maxRunning: 1 }, async ({ limit, clock }) => {
    const takenMs = clock.now().getTime();
    const permit = { accountId: 'a', weight: 1, takenMs, startMs: takenMs + startsInMs };

    await startWith(anImageRequest(), { limit, permit, isNew: true }, clock);

    expect(pause.mock.calls.map(([milliseconds]) => milliseconds)).toEqual(expected);
  }),
);

test('a request that was admitted has its permit until it starts', () =>
  at({ requestsPerSecond: 1 }, async ({ limit, clock }) => {
    const takenMs = clock.now().getTime();
    const permit = { accountId: 'a', weight: 1, takenMs, startMs: takenMs + 1_000 };
    memory.put(routeLimitKey(limit.name), { used: 1, [permitAttribute(REQUEST_ID)]: permit });
    const used = () => memory.get(routeLimitKey(limit.name))?.used;
    const seen: unknown[] = [];
    inPause = () => {
      seen.push(used());
    };

    await startWith(anImageRequest(), { limit, permit, isNew: false }, clock);

    expect([...seen, used()]).toEqual([1, 0]);
  }));
