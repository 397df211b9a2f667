import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { lostConnection } from './connection.ts';
import { ConnectionLostError, OperatorError } from './operator.ts';

/** Something that was refused, or that could not be sent. */
interface Failure {
  text: string;
  isLost: boolean;
}

const failureOf = (error: unknown): Failure => {
  if (!(error instanceof OperatorError)) throw error;
  return { text: error.message, isLost: error instanceof ConnectionLostError };
};

/** What the operator's endpoint tells, read once, and again when the endpoint is back after it was lost. */
export const useReading = <Value>(read: () => Promise<Value>, inputs: readonly unknown[]) => {
  const value = useSignal<Value | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const latest = useRef(0);
  const reload = async (): Promise<void> => {
    latest.current += 1;
    const number = latest.current;
    try {
      const answer = await read();
      // Another reading may have begun meanwhile, with other inputs.
      if (number !== latest.current) return;
      value.value = answer;
      problem.value = undefined;
    } catch (error) {
      const { text, isLost } = failureOf(error);
      // The page says once for all of its parts that the connection is lost.
      problem.value = isLost ? undefined : text;
    }
  };
  const isLost = lostConnection.value !== undefined;
  useEffect(() => {
    if (!isLost) reload();
  }, [...inputs, isLost]);
  return { value, problem, reload };
};

/** An action of a person: why it did not work stands beside it; a lost connection until it is back. */
export const useAction = () => {
  const failure = useSignal<Failure | undefined>(undefined);
  const isBusy = useSignal(false);
  const problem = useComputed(() => {
    const isOver = failure.value?.isLost === true && lostConnection.value === undefined;
    return isOver ? undefined : failure.value?.text;
  });
  /** Resolves to what went wrong, in words. */
  const run = async (work: () => Promise<void>): Promise<string | undefined> => {
    if (isBusy.peek()) return undefined;
    isBusy.value = true;
    try {
      await work();
      failure.value = undefined;
    } catch (error) {
      failure.value = failureOf(error);
    } finally {
      isBusy.value = false;
    }
    return failure.peek()?.text;
  };
  return { run, isBusy, problem };
};
