import type { StateInfo } from './definition.ts';

/** The parts of the context object (`$$`) that change while an execution runs. */
export interface StateContexts {
  /** Merged into the context object: `Task.Token`, and each state's `State` under its context name. */
  context: Record<string, unknown>;
  /** The token in the parameters just evaluated, or a new one. Call it first in a handler. */
  takeToken(): string;
  /** Begins an attempt at a state. Until one succeeds, the next is a retry. */
  beginAttempt(stateName: string): { succeeded(): void };
  /** The state was left through a Catch. */
  caught(stateName: string): void;
}

/**
 * Contexts of one execution. The interpreter evaluates a task's parameters and calls its handler without a pause, so a token created while
 * evaluating belongs to the handler called next. Retry counts are per state; concurrent iterations of a Map share them.
 */
export const createStateContexts = (
  states: Map<string, StateInfo>,
  createToken: () => string,
): StateContexts => {
  let token: string | undefined;
  const attempts = new Map<string, number>();
  const enteredAt = new Map<string, string>();

  const contextOf = (name: string) => ({
    Name: name,
    get RetryCount() {
      return attempts.get(name) ?? 0;
    },
    get EnteredTime() {
      return attempts.has(name) ? enteredAt.get(name) : new Date().toISOString();
    },
  });

  return {
    context: {
      Task: {
        get Token() {
          token ??= createToken();
          return token;
        },
      },
      CurrentStates: Object.fromEntries(
        [...states.values()].map(({ name, contextName }) => [contextName, contextOf(name)]),
      ),
    },
    takeToken() {
      const taken = token ?? createToken();
      token = undefined;
      return taken;
    },
    beginAttempt(name) {
      if (!attempts.has(name)) enteredAt.set(name, new Date().toISOString());
      attempts.set(name, (attempts.get(name) ?? 0) + 1);
      return { succeeded: () => attempts.delete(name) };
    },
    caught: (name) => attempts.delete(name),
  };
};
