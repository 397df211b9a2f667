import { messageOf, nameOf } from '../../errors.ts';
import type { Fields } from './definition.ts';
import { checkSize, TaskError } from './errors.ts';
import type { Visit } from './events.ts';
import type { Host } from './host.ts';
import { readTaskLimits, type TaskLimits } from './task-limits.ts';

/** One attempt at a task. */
export interface Attempt extends TaskLimits {
  parameters: unknown;
  /** The token that its result is sent for; undefined when its call returns it. */
  token: string | undefined;
}

/** The time limits of a task. Throws `States.Runtime`. */
export const readLimits = (fields: Fields, find: (path: string) => unknown): TaskLimits => {
  const { TimeoutSeconds, TimeoutSecondsPath, HeartbeatSeconds, HeartbeatSecondsPath } = fields;
  const limitOf = (literal: unknown, path: string | undefined, field: string): unknown =>
    path === undefined ? literal : (find(path) ?? `the absent ${path} of ${field}`);
  return readTaskLimits(
    limitOf(TimeoutSeconds, TimeoutSecondsPath, 'TimeoutSecondsPath'),
    limitOf(HeartbeatSeconds, HeartbeatSecondsPath, 'HeartbeatSecondsPath'),
  );
};

/**
 * Makes the call of a task once and returns its result, or what is sent for its token. Rejects with `TaskError` when it fails or exceeds
 * its limits. Never settles once its line was stopped.
 */
export const attemptTask = (host: Host, visit: Visit, attempt: Attempt): Promise<unknown> => {
  const { clock, callbacks, observe } = host;
  const { branch, state } = visit;
  const { timeoutSeconds, heartbeatSeconds, parameters, token } = attempt;
  const { resource } = state;
  if (!resource) throw new Error(`${state.name} is no task.`);
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
      const isTimeout = error.name === 'States.HeartbeatTimeout' || error.name === 'States.Timeout';
      if (isTimeout) observe({ type: 'TaskTimedOut', visit, error: error.name });
      else observe({ type: 'TaskFailed', visit, error: error.name, cause: error.message });
      reject(error);
    };
    const succeed = (output: unknown): void => {
      try {
        checkSize(output, state.name);
      } catch (error) {
        fail(error);
        return;
      }
      if (!end()) return;
      observe({ type: 'TaskSucceeded', visit, output });
      resolve(output);
    };
    observe({ type: 'TaskScheduled', visit, parameters, timeoutSeconds, heartbeatSeconds });
    // An observer may have stopped it.
    if (branch.isStopped) return;
    endings.push(branch.onStop(end));
    if (timeoutSeconds !== undefined) {
      endings.push(clock.after(timeoutSeconds * 1_000, () => fail(new TaskError('States.Timeout', ''))));
    }
    if (token !== undefined) endings.push(callbacks.wait(token, heartbeatSeconds, { succeed, fail }));
    host.call(resource, parameters).then((output) => {
      if (token === undefined) succeed(output);
      else if (!isOver) observe({ type: 'TaskSubmitted', visit, output });
    }, fail);
  });
};
