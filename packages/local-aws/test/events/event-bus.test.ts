import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createEventBus, type EventBus } from '../../src/events/event-bus.ts';
import { type AsyncInvocations, createAsyncInvocations } from '../../src/functions/async-invocations.ts';
import type {
  AwsEvent,
  ExecutionTarget,
  InvocationResult,
  InvokeFunction,
  RuleSpec,
} from '../../src/types.ts';

const SWEEP = 'arn:aws:lambda:us-east-1:000000000000:function:sweep';
const MINUTE = 60_000;

const invoke = jest.fn<InvokeFunction>();
const startExecution = jest.fn<(target: ExecutionTarget, input: unknown) => void>();
const logged = jest.spyOn(console, 'error');
let bus: EventBus | undefined;
let invocations: AsyncInvocations | undefined;

beforeEach(() => {
  jest.useFakeTimers({ now: Date.parse('2026-03-01T12:00:30Z') });
  startExecution.mockReset();
  invoke.mockReset().mockResolvedValue({ payload: null });
  logged.mockReset().mockImplementation(() => undefined);
});
afterEach(() => {
  bus?.close();
  invocations?.close();
  jest.useRealTimers();
});

const aRule = (changes: Partial<RuleSpec> = {}): RuleSpec => ({
  name: 'Rule',
  arn: 'arn:aws:events:us-east-1:000000000000:rule/Rule',
  targets: [{ functionArn: SWEEP }],
  ...changes,
});
const anEvent = (changes: Partial<AwsEvent> = {}): AwsEvent => ({
  version: '0',
  id: '1',
  'detail-type': 'Order Placed',
  source: 'shop',
  account: '000000000000',
  time: '2026-03-01T12:00:30Z',
  region: 'us-east-1',
  resources: [],
  detail: {},
  ...changes,
});
const busWith = (...rules: RuleSpec[]): EventBus => {
  invocations = createAsyncInvocations(invoke);
  bus = createEventBus({ rules, invocations, startExecution });
  return bus;
};
const everyMinute = aRule({ schedule: { everyMilliseconds: MINUTE } });
const failure: InvocationResult = {
  payload: { errorType: 'Error', errorMessage: 'no luck', stackTrace: [] },
  functionError: 'Unhandled',
};

describe('an event for a state machine', () => {
  const target: ExecutionTarget = {
    stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:ship',
    principal: { name: 'Rule', accessKeyId: 'AKIA', statements: [] },
  };
  const send = (more: Partial<ExecutionTarget>) =>
    busWith(
      aRule({
        ...{ eventPattern: { source: ['shop'] }, targets: [] },
        executions: [{ ...target, ...more }],
      }),
    ).publish(anEvent());

  test('starts an execution with the event, or with the input of the target', () => {
    send({});
    expect(startExecution).toHaveBeenLastCalledWith(target, anEvent());
    send({ input: { full: true } });
    expect(startExecution).toHaveBeenLastCalledWith({ ...target, input: { full: true } }, { full: true });
  });

  test('is logged and lost when none can be started', () => {
    startExecution.mockImplementation(() => {
      throw new Error('not authorized');
    });

    send({});

    expect(logged).toHaveBeenCalledWith(
      expect.stringMatching(/rule Rule: .*ship did not start.*not authorized/),
    );
  });
});

describe('an event for a function', () => {
  const throttled = () =>
    Promise.reject(Object.assign(new Error('full'), { name: 'TooManyRequestsException' }));
  const send = async (changes: Partial<RuleSpec['targets'][number]>, milliseconds: number) => {
    const rule = aRule({ eventPattern: { source: ['shop'] }, targets: [{ functionArn: SWEEP, ...changes }] });
    busWith(rule).publish(anEvent());
    await jest.advanceTimersByTimeAsync(milliseconds);
    return invoke.mock.calls.length;
  };

  test.each([
    [{}, 3],
    [{ retryAttempts: 0 }, 1],
    [{ retryAttempts: 1 }, 2],
  ])('that fails, with %j, is delivered %i times in all', async (settings, times) => {
    invoke.mockResolvedValue(failure);

    expect(await send(settings, MINUTE)).toBe(times);
    expect(logged).toHaveBeenCalledTimes(1);
  });

  test('that is throttled is kept for as long as it may be old, and uses up no retries', async () => {
    invoke.mockImplementation(throttled);

    expect(await send({ retryAttempts: 0, maxAgeMilliseconds: MINUTE }, 2 * MINUTE)).toBe(61);
    expect(logged).toHaveBeenCalledWith(expect.stringContaining('throttled for too long'));
  });

  test('that is throttled is delivered when there is room', async () => {
    invoke.mockImplementationOnce(throttled);

    expect(await send({ retryAttempts: 0 }, MINUTE)).toBe(2);
    expect(logged).not.toHaveBeenCalled();
  });
});

describe('a schedule', () => {
  test('with a rate fires soon after the start, and then at its rate', async () => {
    const timesCalled = () => invoke.mock.calls.length;
    busWith(everyMinute).start();

    await jest.advanceTimersByTimeAsync(1_000);
    expect(timesCalled()).toBe(1);
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(timesCalled()).toBe(2);
    await jest.advanceTimersByTimeAsync(5 * MINUTE);
    expect(timesCalled()).toBe(7);
  });

  test('sends the event of a schedule', async () => {
    busWith(everyMinute).start();
    await jest.advanceTimersByTimeAsync(100);

    expect(invoke).toHaveBeenCalledWith(SWEEP, {
      version: '0',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      account: '000000000000',
      time: '2026-03-01T12:00:30Z',
      region: 'us-east-1',
      resources: [everyMinute.arn],
      detail: {},
    });
  });

  test("sends a target's own input instead", async () => {
    const targets = [{ functionArn: SWEEP, input: { sweep: true } }, { functionArn: SWEEP }];
    busWith({ ...everyMinute, targets }).start();
    await jest.advanceTimersByTimeAsync(100);

    expect(invoke.mock.calls.map(([, payload]) => payload)).toEqual([
      { sweep: true },
      expect.objectContaining({ source: 'aws.events' }),
    ]);
  });

  test('starts and stops with the bus', async () => {
    const stopped = busWith(everyMinute);
    await jest.advanceTimersByTimeAsync(5 * MINUTE);
    expect(invoke).not.toHaveBeenCalled();

    stopped.start();
    stopped.close();
    await jest.advanceTimersByTimeAsync(5 * MINUTE);

    expect(invoke).not.toHaveBeenCalled();
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('an event', () => {
  test('goes unchanged to every matching rule', () => {
    const event = anEvent();
    const other = 'arn:aws:lambda:us-east-1:000000000000:function:other';

    busWith(
      aRule({ eventPattern: { source: ['shop'] } }),
      aRule({ eventPattern: { source: ['bank'] } }),
      aRule({ eventPattern: { 'detail-type': ['Order Placed'] }, targets: [{ functionArn: other }] }),
      everyMinute,
    ).publish(event);

    expect(invoke.mock.calls).toEqual([
      [SWEEP, event],
      [other, event],
    ]);
  });

  test('goes nowhere once the bus is closed', () => {
    const closed = busWith(aRule({ eventPattern: { source: ['shop'] } }));
    closed.close();
    closed.publish(anEvent());

    expect(invoke).not.toHaveBeenCalled();
  });
});

describe('a target that fails', () => {
  const rule = aRule({ eventPattern: { source: ['shop'] } });

  test.each<[string, () => Promise<InvocationResult>]>([
    ['by an error of its own', () => Promise.resolve(failure)],
    ['because it cannot be invoked', () => Promise.reject(new Error('no luck'))],
  ])('%s is retried twice with the same event, then logged as lost', async (_title, fail) => {
    invoke.mockImplementation(fail);
    const event = anEvent();
    busWith(rule).publish(event);

    await jest.advanceTimersByTimeAsync(10 * MINUTE);

    expect(invoke.mock.calls).toEqual(Array(3).fill([SWEEP, event]));
    expect(logged).toHaveBeenCalledTimes(1);
    expect(logged).toHaveBeenCalledWith(
      expect.stringMatching(/^\[events\] rule Rule: .*function:sweep failed 3 times.*no luck/),
    );
  });

  test('once is retried and not logged', async () => {
    invoke.mockResolvedValueOnce(failure);
    busWith(rule).publish(anEvent());

    await jest.advanceTimersByTimeAsync(10 * MINUTE);

    expect(invoke).toHaveBeenCalledTimes(2);
    expect(logged).not.toHaveBeenCalled();
  });

  test('is not retried once everything stops', async () => {
    invoke.mockResolvedValue(failure);
    const closed = busWith(rule);
    closed.publish(anEvent());
    await jest.advanceTimersByTimeAsync(0);
    closed.close();
    invocations?.close();

    await jest.advanceTimersByTimeAsync(10 * MINUTE);

    expect(invoke).toHaveBeenCalledTimes(1);
  });

  test('because everything stops is not logged', async () => {
    const last = Promise.withResolvers<InvocationResult>();
    invoke.mockResolvedValueOnce(failure).mockResolvedValueOnce(failure).mockReturnValueOnce(last.promise);
    const closed = busWith(rule);
    closed.publish(anEvent());
    await jest.advanceTimersByTimeAsync(10 * MINUTE);
    expect(invoke).toHaveBeenCalledTimes(3);

    closed.close();
    invocations?.close();
    last.reject(new Error('The local run is stopping'));
    await jest.advanceTimersByTimeAsync(0);

    expect(logged).not.toHaveBeenCalled();
  });
});
