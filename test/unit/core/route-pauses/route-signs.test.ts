import { describe, expect, jest, test } from '@jest/globals';
import { readCircuits } from '../../../../core/circuits/circuits.ts';
import { type CallsMade, reportCalls, reportTasks } from '../../../../core/circuits/route-signs.ts';
import { logger } from '../../../../core/observability.ts';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import { circuitKey } from '../../../../core/table/keys.ts';
import { at, StoppedClock } from '../../builders/clocks.ts';
import { anAttempt, REQUEST_ID } from '../../builders/entities.ts';
import { aDone } from '../../builders/providers.ts';
import { memory } from '../../fakes/fresh-table.ts';

const ROUTE = 'modelstudio/qwen-image';
const FAILURE = { code: 'provider_error', message: 'no' } as const;
const FAILED = { kind: 'failed', failure: FAILURE } as const;
const BAD_INPUT = { ...FAILED, blamesInput: true } as const;
const CONTENT = { kind: 'failed', failure: { code: 'content_policy', message: 'no' } } as const;

/** A task that ended so. */
const aTask = (outcome: ProviderAttempt['outcome'], circuit: ProviderAttempt['circuit'] = 'failures') =>
  anAttempt({ taskId: 'task-1', outcome, circuit });
const stored = () => memory.get(circuitKey(ROUTE));
/** What was counted under this name, minute by minute. */
const countsOf = (name: string): unknown[] =>
  Object.entries(stored() ?? {}).flatMap(([key, value]) => (key.startsWith(`${name}#`) ? [value] : []));
/** Tells how calls ended, of a request that is none of the probes by default. */
const tell = (made: ProviderAttempt[], told: Partial<CallsMade>): Promise<void> =>
  reportCalls(
    REQUEST_ID,
    { ...{ route: ROUTE, role: 'failures', cause: undefined, waitedInVain: false }, made, ...told },
    new StoppedClock(),
  );
/** The circuit of the route, left out and tried by the request. */
const tried = (cause = 'tasks'): void =>
  memory.put(circuitKey(ROUTE), {
    ...{ cause, openedAt: at(-60), openUntil: at(-1) },
    ...{ pauseSeconds: 120, probe: REQUEST_ID, probeUntil: at(600) },
  });

describe('the tasks of a route', () => {
  test('leave it out for its tasks after five failures', async () => {
    for (let count = 0; count < 5; count++) {
      expect(stored()?.cause).toBeUndefined();
      await reportTasks(REQUEST_ID, [aTask(FAILED)], new StoppedClock());
    }

    expect(stored()).toMatchObject({ cause: 'tasks', pauseSeconds: 30 });
  });

  test.each<[string, ProviderAttempt['outcome'], ProviderAttempt['circuit']]>([
    ['work', aDone('a'), 'failures'],
    ['are refused for their content', CONTENT, 'failures'],
    ['fail for what was asked', BAD_INPUT, 'failures'],
    ['were lost', { kind: 'lost', failure: FAILURE }, 'failures'],
    ['never ended', { kind: 'accepted', taskId: 'task-1' }, 'failures'],
    ['are of a model with one route', FAILED, undefined],
  ])('that %s write nothing', async (_, outcome, circuit) => {
    await reportTasks(REQUEST_ID, [{ ...aTask(outcome), circuit }], new StoppedClock());

    expect(memory.calls()).toEqual({});
  });

  test('that work are counted while something fails', async () => {
    await reportTasks(REQUEST_ID, [aTask(aDone('a'), 'all')], new StoppedClock());

    expect(countsOf('tasks-good')).toEqual([1]);
  });

  test('leave it out however many calls work', async () => {
    const calls = Array.from({ length: 40 }, () =>
      anAttempt({ outcome: { kind: 'accepted', taskId: 'task-1' } }),
    );
    await tell(calls, { role: 'all' });
    for (let count = 0; count < 5; count++)
      await reportTasks(REQUEST_ID, [aTask(FAILED)], new StoppedClock());

    expect(stored()).toMatchObject({ cause: 'tasks' });
  });

  test.each<[string, ProviderAttempt['outcome']]>([
    ['is done', aDone('a')],
    ['is refused for its content', CONTENT],
  ])('close the circuit when that of the probe %s', async (_, outcome) => {
    tried();
    await reportTasks(REQUEST_ID, [aTask(outcome, 'probe')], new StoppedClock());

    expect((await readCircuits([ROUTE])).get(ROUTE)).not.toHaveProperty('openedAt');
  });

  test.each<[string, ProviderAttempt]>([
    ['is lost', aTask({ kind: 'lost', failure: FAILURE }, 'probe')],
    ['does not end in time', aTask({ kind: 'accepted', taskId: 'task-1' }, 'probe')],
    ['fails for what was asked', aTask(BAD_INPUT, 'probe')],
    ['never came to be', anAttempt({ outcome: { kind: 'lost', failure: FAILURE }, circuit: 'probe' })],
  ])('let another request try it when that of the probe %s', async (_, attempt) => {
    tried();
    await reportTasks(
      REQUEST_ID,
      [anAttempt({ outcome: CONTENT, circuit: 'failures' }), attempt],
      new StoppedClock(),
    );

    expect(stored()).toMatchObject({ cause: 'tasks', pauseSeconds: 240 });
    expect(stored()).not.toHaveProperty('probe');
  });

  test('leave it out for twice as long, at most 5 min, when that of the probe fails', async () => {
    for (const pauseSeconds of [240, 300]) {
      tried();
      memory.patch(circuitKey(ROUTE), { pauseSeconds: pauseSeconds / 2 });
      await reportTasks(REQUEST_ID, [aTask(FAILED, 'probe')], new StoppedClock());

      expect(stored()).toMatchObject({ pauseSeconds, openUntil: at(pauseSeconds) });
      expect(stored()).not.toHaveProperty('probe');
    }
  });

  test('of a request that tries the route no more change nothing', async () => {
    tried();
    memory.patch(circuitKey(ROUTE), { probe: 'img_other' });
    for (const outcome of [FAILED, aDone('a')])
      await reportTasks(REQUEST_ID, [aTask(outcome, 'probe')], new StoppedClock());

    expect(stored()).toMatchObject({ probe: 'img_other', pauseSeconds: 120 });
  });
});

test.each<[string, ProviderAttempt['outcome']]>([
  ['fails', { kind: 'lost', failure: FAILURE }],
  ['is refused', { ...FAILED, taken: 'no', obstacle: 'access' }],
])('a route stays left out when one of the probe’s calls %s, whatever the others do', async (_, outcome) => {
  tried('calls');
  const accepted = anAttempt({ outcome: { kind: 'accepted', taskId: 'task-1' } });

  await tell([accepted, anAttempt({ call: 1, outcome })], { role: 'probe', cause: 'calls' });

  expect(stored()).toMatchObject({ cause: 'calls', pauseSeconds: 240 });
  expect(stored()).not.toHaveProperty('probe');
});

test('a call for which our quota is used up counts as a failure, one that its own input was refused for as none', async () => {
  await tell([anAttempt({ outcome: { ...FAILED, taken: 'no' } })], {});
  expect(countsOf('calls-bad')).toEqual([]);

  await tell([anAttempt({ outcome: { ...FAILED, taken: 'no', obstacle: 'quota' } })], {});
  expect(countsOf('calls-bad')).toEqual([1]);
});

test('a request that waited in vain for its provider counts as one failure', async () => {
  const busy = { kind: 'busy', reason: 'full', obstacle: 'throttled' } as const;

  await tell([anAttempt({ outcome: busy })], { waitedInVain: true });

  expect(countsOf('calls-bad')).toEqual([1]);
});

test('a circuit that cannot be written is logged and costs the request nothing', async () => {
  const logged = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
  memory.beforeCall = () => {
    throw new Error('The table is out of order.');
  };

  await reportTasks(REQUEST_ID, [aTask(FAILED)], new StoppedClock());

  expect(logged.mock.calls.map(([message]) => message)).toEqual(['a circuit could not be told']);
  logged.mockRestore();
});
