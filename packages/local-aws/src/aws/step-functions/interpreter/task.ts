import { messageOf, nameOf } from '../../errors.ts';
import type { Fields } from './definition.ts';
import { checkDataSize, TaskError } from './errors.ts';
import type { Visit } from './events.ts';
import { find, type Scope } from './expressions.ts';
import type { Host } from './host.ts';
import { readTimeout } from './time-limit.ts';

/** One attempt at a task. */
export interface Attempt {
  /** Undefined: no limit. */
  timeoutSeconds: number | undefined;
  parameters: unknown;
  /**
   * The task token of a task that waits for `SendTaskSuccess` or `SendTaskFailure`; undefined when the call returns
   * the result.
   */
  token: string | undefined;
}

/** The time limit of a task. Throws `States.Runtime`. */
export const timeoutOf = ({ TimeoutSeconds, TimeoutSecondsPath: path }: Fields, scope: Scope) =>
  readTimeout(path === undefined ? TimeoutSeconds : (find(path, scope) ?? `the absent ${path}`));

/**
 * Makes the call of a task once and returns its result, or what is sent for its token. Rejects with `TaskError` when it fails or exceeds
 * its limit. Never settles once its line was stopped.
 */
export const attemptTask = (host: Host, visit: Visit, attempt: Attempt): Promise<unknown> => {
  const { clock, callbacks, observe } = host;
  const { branch, state } = visit;
  const { timeoutSeconds, parameters, token } = attempt;
  return new Promise((resolve, reject) => {
    if (branch.isStopped) return;
    const endings: (() => void)[] = [];
    let isOver = false;
    /** Ends the attempt, once. */
    const end = (): boolean => {
      if (isOver) return false;
      isOver = true;
      for (const ending of endings) ending();
      return true;
    };
    const fail = (thrown: unknown): void => {
      if (!end()) return;
      const error = thrown instanceof TaskError ? thrown : new TaskError(nameOf(thrown), messageOf(thrown));
      if (error.name === 'States.Timeout') observe({ type: 'TaskTimedOut', visit });
      else observe({ type: 'TaskFailed', visit, error: error.name, cause: error.message });
      reject(error);
    };
    const succeed = (output: unknown): void => {
      try {
        checkDataSize(output, state.name);
      } catch (error) {
        fail(error);
        return;
      }
      if (!end()) return;
      observe({ type: 'TaskSucceeded', visit, output });
      resolve(output);
    };
    observe({ type: 'TaskScheduled', visit, parameters, timeoutSeconds });
    // An observer may have stopped it.
    if (branch.isStopped) return;
    endings.push(branch.onStop(end));
    if (timeoutSeconds !== undefined) {
      endings.push(clock.after(timeoutSeconds * 1_000, () => fail(new TaskError('States.Timeout', ''))));
    }
    if (token !== undefined) endings.push(callbacks.wait(token, succeed));
    host.call(parameters).then((output) => {
      if (token === undefined) succeed(output);
      else if (!isOver) observe({ type: 'TaskSubmitted', visit, output });
    }, fail);
  });
};
