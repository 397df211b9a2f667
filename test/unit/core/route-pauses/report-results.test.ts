import { expect, jest, test } from '@jest/globals';
import { logger } from '../../../../core/observability.ts';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import { reportCalls, reportTasks } from '../../../../core/route-pauses/report-results.ts';
import { routeStateKey } from '../../../../core/table/keys.ts';
import { at, atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAttempt, REQUEST_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aDone } from '../../builders/providers.ts';
import { memory } from '../../fakes/fresh-table.ts';

const [MODEL, ROUTE] = ['xQI3Pro', 'modelstudio/qwen-image'] as const;
const OWNER = { requestId: REQUEST_ID, accountId: ACCOUNT_ID, model: MODEL };
const SEVERAL = [
  { provider: 'modelstudio', upstreamModel: 'qwen-image' },
  { provider: 'fal', upstreamModel: 'two' },
];
const under = <T>(routes: object, act: () => Promise<T>): Promise<T> =>
  withEnvironment({ MODEL_ROUTES: JSON.stringify({ [MODEL]: routes }) }, act);

/** Every test has a minute of its own: states are cached, and good ends summed, for a second. */
let minute = 0;
const aClock = () => new StoppedClock(atSeconds(60 * ++minute));
const FAILED = { kind: 'failed', failure: { code: 'provider_error', message: 'no' } } as const;
const aTask = (outcome: ProviderAttempt['outcome'], startedAt = at(0)) =>
  anAttempt({ taskId: 'task-1', outcome, startedAt });
const stored = () => memory.get(routeStateKey(ROUTE));
/** The sum of what was counted under this name. */
const counted = (name: string): number =>
  Object.entries(stored() ?? {}).reduce(
    (sum, [key, value]) => sum + (key.startsWith(`${name}#`) ? Number(value) : 0),
    0,
  );

test('tasks pause their route once half of those that were accepted have failed', () =>
  under(SEVERAL, async () => {
    const clock = aClock();
    await reportCalls(
      OWNER,
      Array.from({ length: 40 }, () => anAttempt({ outcome: aDone('a') })),
      clock,
    );
    for (let count = 0; count < 20; count++) {
      expect(stored()?.pauseReason).toBeUndefined();
      await reportTasks(OWNER, [aTask(FAILED)], clock);
    }

    expect(stored()).toMatchObject({ pauseReason: 'tasks', pauseSeconds: 30 });
  }));

test.each<[string, boolean]>([
  ['began since', true],
  ['was under way', false],
])('a task that %s ends a pause for tasks, or not', (_, isEnded) =>
  under(SEVERAL, async () => {
    const clock = aClock();
    const pausedAt = isEnded ? at(-1) : at(1);
    memory.put(routeStateKey(ROUTE), {
      pauseReason: 'tasks',
      pausedAt,
      pausedUntil: at(9),
      pauseSeconds: 30,
    });

    await reportTasks(OWNER, [aTask(aDone('a'))], clock);

    expect(stored()?.pausedAt).toBe(isEnded ? undefined : pausedAt);
  }),
);

test('many good ends of a process are one write a second, and none is lost', () =>
  under(SEVERAL, async () => {
    const clock = aClock();
    const good = () => reportCalls(OWNER, [anAttempt({ outcome: aDone('a') })], clock);
    for (let count = 0; count < 50; count++) await good();
    expect([counted('calls-good'), memory.calls().UpdateCommand]).toEqual([1, 1]);
    clock.advance(1);
    await good();

    expect([counted('calls-good'), memory.calls().UpdateCommand]).toEqual([51, 2]);
  }));

test('good ends are written once a second, however often they come', () =>
  under(SEVERAL, async () => {
    const clock = aClock();
    for (let count = 0; count < 10; count++) {
      await reportCalls(OWNER, [anAttempt({ outcome: aDone('a') })], clock);
      clock.advance(0.4);
    }

    // At 0, 1.2, 2.4 and 3.6 s.
    expect([counted('calls-good'), memory.calls().UpdateCommand]).toEqual([10, 4]);
  }));

test('a bad end is written at once, with the good ones before it', () =>
  under(SEVERAL, async () => {
    const clock = aClock();
    for (let count = 0; count < 3; count++)
      await reportCalls(OWNER, [anAttempt({ outcome: aDone('a') })], clock);
    await reportCalls(OWNER, [anAttempt({ outcome: { kind: 'lost', failure: FAILED.failure } })], clock);

    expect([counted('calls-good'), counted('calls-bad')]).toEqual([3, 1]);
  }));

test('a route is paused again when one of the calls that tried it fails, whatever the others do', () =>
  under(SEVERAL, async () => {
    const state = { pauseReason: 'calls', pausedAt: at(-60), pausedUntil: at(-1), pauseSeconds: 120 };
    memory.put(routeStateKey(ROUTE), state);
    const accepted = anAttempt({ outcome: { kind: 'accepted', taskId: 'task-1' } });
    const lost = anAttempt({ call: 1, outcome: { kind: 'lost', failure: FAILED.failure } });

    await reportCalls(OWNER, [lost, accepted], aClock());

    expect(stored()).toMatchObject({ pauseReason: 'calls', pauseSeconds: 240 });
  }));

test.each<[string, ProviderAttempt['outcome']]>([
  ['worked', aDone('a')],
  ['failed', { kind: 'lost', failure: FAILED.failure }],
])('a call of the instant of the pause that %s is counted, and decides nothing', (_, outcome) =>
  under(SEVERAL, async () => {
    const state = { pauseReason: 'calls', pausedAt: at(0), pausedUntil: at(30), pauseSeconds: 30 };
    memory.put(routeStateKey(ROUTE), state);

    await reportCalls(OWNER, [anAttempt({ outcome, startedAt: at(0) })], aClock());

    expect(memory.calls()).toEqual({ UpdateCommand: 1 });
    expect(stored()).toMatchObject(state);
  }),
);

test('a call that worked does not end a pause when another one of its request failed, though that was under way', () =>
  under(SEVERAL, async () => {
    const state = { pauseReason: 'calls', pausedAt: at(0), pausedUntil: at(30), pauseSeconds: 30 };
    memory.put(routeStateKey(ROUTE), state);
    const lost = anAttempt({ outcome: { kind: 'lost', failure: FAILED.failure }, startedAt: at(-1) });
    const worked = anAttempt({ call: 1, outcome: aDone('a'), startedAt: at(1) });

    await reportCalls(OWNER, [lost, worked], aClock());

    expect(stored()).toMatchObject(state);
  }));

test('an end that says nothing about a paused route is no error', () =>
  under(SEVERAL, async () => {
    const logged = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    const state = { pauseReason: 'calls', pausedAt: at(-60), pausedUntil: at(30), pauseSeconds: 30 };
    memory.put(routeStateKey(ROUTE), state);

    await reportCalls(OWNER, [anAttempt({ outcome: { ...FAILED, taken: 'no' } })], aClock());

    expect(logged.mock.calls).toEqual([]);
    expect(memory.calls()).not.toHaveProperty('UpdateCommand');
    expect(stored()).toMatchObject(state);
    logged.mockRestore();
  }));

test('the ends of a model with one route write nothing', () =>
  under(SEVERAL.slice(0, 1), async () => {
    await reportCalls(OWNER, [anAttempt({ outcome: aDone('a') })], aClock());
    await reportTasks(OWNER, [aTask(FAILED)], aClock());

    expect(memory.calls()).toEqual({});
  }));

test('a state that cannot be written is logged and costs the request nothing', () =>
  under(SEVERAL, async () => {
    const logged = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    memory.beforeCall = () => {
      throw new Error('The table is out of order.');
    };

    await reportTasks(OWNER, [aTask(FAILED)], new StoppedClock(NOW));

    expect(logged.mock.calls.map(([message]) => message)).toEqual(['a route could not be reported on']);
    logged.mockRestore();
  }));
