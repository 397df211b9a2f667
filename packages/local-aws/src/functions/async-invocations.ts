import { messageOf, nameOf } from '../aws/errors.ts';
import { Timers } from '../timers.ts';
import type { InvokeFunction, RuleTarget } from '../types.ts';

/** Functions invoked asynchronously: Lambda keeps the event, and repeats an invocation that fails or is throttled. */
export interface AsyncInvocations {
  /** Takes an event for a function. Returns at once; never throws. `source` is named in the log when the event is lost. */
  add(target: Omit<RuleTarget, 'input'>, payload: unknown, source: string): void;
  /** Stops retries. Running invocations continue; their results are ignored. */
  close(): void;
}

/** Lambda retries a failed asynchronous invocation after one and two minutes; here after much less. */
const RETRY_PAUSES_MILLISECONDS = [500, 1_000];

/** Lambda's default for how long it keeps an event for a function that is throttled. */
const DEFAULT_MAX_AGE_MILLISECONDS = 6 * 3_600_000;

/** Lambda waits 1 s, doubling up to 5 min, for a throttled function; here always the shortest. */
const THROTTLED_PAUSE_MILLISECONDS = 1_000;

/** Asynchronous invocations by `invoke`. An event that fails too often, or is throttled for too long, is logged and lost. */
export const createAsyncInvocations = (invoke: InvokeFunction): AsyncInvocations => {
  const timers = new Timers();

  /** Why an invocation failed; undefined on success. Throttled, when the function did not start. */
  const failureOf = async (functionArn: string, payload: unknown) => {
    try {
      const result = await invoke(functionArn, payload);
      return result.functionError && { isThrottled: false, message: JSON.stringify(result.payload) };
    } catch (error) {
      return { isThrottled: nameOf(error) === 'TooManyRequestsException', message: messageOf(error) };
    }
  };

  const deliver = async (
    target: RuleTarget,
    payload: unknown,
    source: string,
    { tries, receivedAt }: { tries: number; receivedAt: number },
  ): Promise<void> => {
    const failure = await failureOf(target.functionArn, payload);
    if (failure === undefined || timers.isClosed) return;
    const again = (pause: number, tried: number) =>
      timers.after(pause, () => void deliver(target, payload, source, { tries: tried, receivedAt }));
    const lost = (reason: string) =>
      console.error(`[events] ${source}: ${target.functionArn} ${reason}: ${failure.message}`);

    if (failure.isThrottled) {
      const maxAge = target.maxAgeMilliseconds ?? DEFAULT_MAX_AGE_MILLISECONDS;
      if (Date.now() + THROTTLED_PAUSE_MILLISECONDS > receivedAt + maxAge) {
        lost('was throttled for too long, the event is lost');
      } else again(THROTTLED_PAUSE_MILLISECONDS, tries);
      return;
    }
    const pause = RETRY_PAUSES_MILLISECONDS.slice(0, target.retryAttempts)[tries];
    if (pause !== undefined) again(pause, tries + 1);
    else lost(`failed ${tries + 1} times, the event is lost`);
  };

  return {
    add(target, payload, source) {
      if (!timers.isClosed) void deliver(target, payload, source, { tries: 0, receivedAt: Date.now() });
    },
    close: () => timers.close(),
  };
};
