import { beforeEach, describe, expect, test } from '@jest/globals';
import { NOW } from '../unit/builders/clocks.ts';
import { REQUEST_ID } from '../unit/builders/entities.ts';
import { done, fail, givenTo, INPUT, invoked, runGeneration, stop, store, wait } from './generation.ts';
import { hangs } from './harness.ts';
import {
  balanceThousandths,
  failRequest,
  ledgerAmounts,
  putRequest,
  storedRequest,
} from './stored-request.ts';

/** What an account has that was debited for the request, and what it has once that is given back. */
const DEBITED = 100_000;
const REFUNDED = 104_000;

beforeEach(() => putRequest());

describe('a provider that answers at once', () => {
  test('is asked, its outputs are stored, and the request is settled', async () => {
    const execution = await runGeneration({
      'dispatch-request': [store],
      'store-outputs': [done],
      'settle-request': [done],
    });

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.path).toEqual([
      'Dispatch request',
      'Choose next step',
      'Store outputs',
      'Settle request',
    ]);
    expect(execution.invocations).toEqual([
      { functionName: 'dispatch-request', payload: { requestId: REQUEST_ID } },
      { functionName: 'store-outputs', payload: { requestId: REQUEST_ID } },
      { functionName: 'settle-request', payload: { requestId: REQUEST_ID } },
    ]);
  });

  test('costs four state transitions', async () => {
    const { transitions, retries } = await runGeneration({
      'dispatch-request': [store],
      'store-outputs': [done],
      'settle-request': [done],
    });

    expect(retries).toEqual([]);
    expect(transitions).toBe(4);
  });

  test('leaves nothing but the id and the last step in the state', async () => {
    const { visits } = await runGeneration({
      'dispatch-request': [store],
      'store-outputs': [done],
      'settle-request': [done],
    });

    const afterDispatch = { requestId: REQUEST_ID, step: { result: { next: 'store' } } };
    expect(visits).toEqual([
      { state: 'Dispatch request', input: INPUT, output: afterDispatch, seconds: 0 },
      { state: 'Choose next step', input: afterDispatch, output: afterDispatch, seconds: 0 },
      { state: 'Store outputs', input: afterDispatch, output: afterDispatch, seconds: 0 },
      { state: 'Settle request', input: afterDispatch, output: afterDispatch, seconds: 0 },
    ]);
  });
});

describe('a provider that takes a task and is polled', () => {
  test('is asked again whenever nothing is heard for as long as the step before said', async () => {
    const execution = await runGeneration({
      'dispatch-request': [wait(5)],
      'await-provider': done,
      'poll-provider': [wait(7), wait(300), store],
      'store-outputs': [done],
      'settle-request': [done],
    });

    const look = ['Wait for provider', 'Poll provider', 'Choose next step'];
    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.path).toEqual([
      ...['Dispatch request', 'Choose next step'],
      ...[...look, ...look, ...look],
      ...['Store outputs', 'Settle request'],
    ]);
    expect(waitsOf(execution)).toEqual([5, 7, 300]);
    expect(givenTo(execution, 'poll-provider')).toEqual([INPUT, INPUT, INPUT]);
    expect(givenTo(execution, 'store-outputs')).toEqual([INPUT]);
  });

  test('waits under another token each time, which its function is given', async () => {
    const execution = await runGeneration({
      'dispatch-request': [wait(5)],
      'await-provider': done,
      'poll-provider': [wait(7), store],
      'store-outputs': [done],
      'settle-request': [done],
    });

    expect(execution.tokens.issued).toEqual(['token-1', 'token-2']);
    expect(givenTo(execution, 'await-provider')).toEqual(
      execution.tokens.issued.map((taskToken) => ({ ...INPUT, taskToken })),
    );
  });

  test('costs three state transitions for each look', async () => {
    const { transitions } = await runGeneration({
      'dispatch-request': [wait(5)],
      'await-provider': done,
      'poll-provider': [wait(5), store],
      'store-outputs': [done],
      'settle-request': [done],
    });

    expect(transitions).toBe(4 + 2 * 3);
  });

  test('is remembered by its last answer and the last silence only, however often it is asked', async () => {
    const execution = await runGeneration({
      'dispatch-request': [wait(5)],
      'await-provider': done,
      'poll-provider': [...Array.from({ length: 20 }, () => wait(6)), store],
      'store-outputs': [done],
      'settle-request': [done],
    });

    expect(execution.visits.at(-1)?.output).toEqual({
      ...INPUT,
      step: { result: { next: 'store' } },
      silence: { Error: 'States.HeartbeatTimeout', Cause: '' },
    });
  });
});

describe('news that comes while an execution waits', () => {
  const SCRIPT = {
    'dispatch-request': [wait(600, 3_000)],
    'await-provider': [done],
    'store-outputs': [done],
    'settle-request': [done],
  };
  const woken = { result: { next: 'store' } };

  test.each([1, 599, 2_999])('after %i s ends the wait at once, in six transitions', async (seconds) => {
    const execution = await runGeneration(SCRIPT, ({ tokens, at, every }) => {
      every(60, () =>
        Date.now() < NOW.getTime() + seconds * 1000 ? tokens.heartbeat('token-1') : undefined,
      );
      at(seconds, () => tokens.succeed('token-1', woken));
    });

    expect(execution.path).toEqual([
      'Dispatch request',
      'Choose next step',
      'Wait for provider',
      'Choose next step',
      'Store outputs',
      'Settle request',
    ]);
    expect(execution.transitions).toBe(6);
    expect(execution.seconds).toBe(seconds);
    expect(execution.visits[2]?.output).toEqual({ ...INPUT, step: woken });
  });

  test('is acted on: a refusal fails the request', async () => {
    const error = { code: 'content_policy', message: 'refused' } as const;

    const execution = await runGeneration(
      { ...SCRIPT, 'store-outputs': [], 'settle-request': [], 'fail-request': failRequest },
      ({ tokens, at }) => at(9, () => tokens.succeed('token-1', { result: { next: 'fail', error } })),
    );

    expect(execution.path.slice(-2)).toEqual(['Choose next step', 'Fail request']);
    expect(storedRequest()).toMatchObject({ status: 'failed', error });
  });

  test('is acted on: a request that is over is left alone', async () => {
    const execution = await runGeneration(SCRIPT, ({ tokens, at }) =>
      at(9, () => tokens.succeed('token-1', { result: { next: 'stop' } })),
    );

    expect(execution.path.slice(-2)).toEqual(['Choose next step', 'Nothing left to do']);
    expect(execution.transitions).toBe(5);
  });

  test('may be none yet: each sign of life prolongs the wait, without a transition', async () => {
    const execution = await runGeneration(SCRIPT, ({ tokens, at }) => {
      for (const seconds of [599, 1_198, 1_797]) at(seconds, () => tokens.heartbeat('token-1'));
      at(2_396, () => tokens.succeed('token-1', woken));
    });

    expect(execution.transitions).toBe(6);
    expect(waitsOf(execution)).toEqual([2_396]);
  });

  test('is looked for when the signs of life stop', async () => {
    const execution = await runGeneration({ ...SCRIPT, 'poll-provider': [store] }, ({ tokens, at }) =>
      at(500, () => tokens.heartbeat('token-1')),
    );

    expect(waitsOf(execution)).toEqual([1_100]);
    expect(execution.visits.at(-1)?.output).toMatchObject({ silence: { Error: 'States.HeartbeatTimeout' } });
  });

  test('is looked for at the time limit of the wait, whatever signs of life there are', async () => {
    const execution = await runGeneration({ ...SCRIPT, 'poll-provider': [store] }, ({ tokens, every }) =>
      every(100, () => (Date.now() < NOW.getTime() + 3_000_000 ? tokens.heartbeat('token-1') : undefined)),
    );

    expect(waitsOf(execution)).toEqual([3_000]);
    expect(execution.path.slice(2)).toEqual([
      'Wait for provider',
      'Poll provider',
      'Choose next step',
      'Store outputs',
      'Settle request',
    ]);
    expect(execution.visits.at(-1)?.output).toMatchObject({ silence: { Error: 'States.Timeout' } });
  });

  test('comes too late under a token that was given up, and changes nothing', async () => {
    const refusals: unknown[] = [];
    const late = (tell: () => void) => () => {
      try {
        tell();
      } catch (error) {
        refusals.push((error as Error).name);
      }
    };

    const execution = await runGeneration(
      { ...SCRIPT, 'await-provider': done, 'poll-provider': [wait(600, 3_000), store] },
      ({ tokens, at }) => {
        at(
          700,
          late(() => tokens.succeed('token-1', woken)),
        );
        at(
          701,
          late(() => tokens.heartbeat('token-1')),
        );
      },
    );

    expect(refusals).toEqual(['TaskTimedOut', 'TaskTimedOut']);
    expect(waitsOf(execution)).toEqual([600, 600]);
  });

  test('comes before the function that keeps the token has answered, and counts', async () => {
    const execution = await runGeneration({ ...SCRIPT, 'await-provider': [hangs] }, ({ tokens, at }) =>
      at(2, () => tokens.succeed('token-1', woken)),
    );

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.seconds).toBe(2);
  });
});

describe('a step that says "fail"', () => {
  const refusal = { code: 'content_policy', message: 'The content filter refused the request.' } as const;

  test.each([
    ['dispatch', { 'dispatch-request': [fail(refusal)] }, ['Dispatch request', 'Choose next step']],
    [
      'poll',
      { 'dispatch-request': [wait(5)], 'await-provider': [done], 'poll-provider': [fail(refusal)] },
      [
        ...['Dispatch request', 'Choose next step'],
        ...['Wait for provider', 'Poll provider', 'Choose next step'],
      ],
    ],
  ])('at %s fails and refunds the request with the reason it gave', async (_step, script, path) => {
    const execution = await runGeneration({ ...script, 'fail-request': failRequest });

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.path).toEqual([...path, 'Fail request']);
    expect(givenTo(execution, 'fail-request')).toMatchObject([
      { requestId: REQUEST_ID, step: { result: { next: 'fail', error: refusal } } },
    ]);
    expect(storedRequest()).toMatchObject({ status: 'failed', error: refusal, refundThousandths: 4_000 });
    expect(balanceThousandths()).toBe(REFUNDED);
    expect(ledgerAmounts()).toEqual([4_000]);
  });
});

describe('a step that says "stop"', () => {
  test.each([
    ['dispatch', { 'dispatch-request': [stop] }, ['dispatch-request']],
    [
      'poll',
      { 'dispatch-request': [wait(5)], 'await-provider': [done], 'poll-provider': [stop] },
      ['dispatch-request', 'await-provider', 'poll-provider'],
    ],
  ])('at %s ends the execution and touches the request no more', async (_step, script, functions) => {
    const execution = await runGeneration(script);

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.path.slice(-2)).toEqual(['Choose next step', 'Nothing left to do']);
    expect(invoked(execution)).toEqual(functions);
    expect(storedRequest().status).toBe('queued');
    expect(balanceThousandths()).toBe(DEBITED);
  });
});

const waitsOf = ({ visits }: Awaited<ReturnType<typeof runGeneration>>): number[] =>
  visits.flatMap(({ state, seconds }) => (state === 'Wait for provider' ? [seconds] : []));
