import { InvalidToken, SendTaskSuccessCommand, TaskDoesNotExist, TaskTimedOut } from '@aws-sdk/client-sfn';
import { stepFunctions } from './step-functions.ts';
import type { FinalStep } from './step-rules.ts';

/**
 * Ends the wait under a task token with the next step. False when the execution no longer waits under it.
 */
export const wakeExecution = (taskToken: string, step: FinalStep): Promise<boolean> =>
  unlessGone(() =>
    // The same shape as the `ResultSelector` of the other steps gives.
    stepFunctions.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify({ result: step }) })),
  );

/** Ends the wait for capacity under a task token: the request is dispatched again. False as for `wakeExecution`. */
export const letIntoDispatch = (taskToken: string): Promise<boolean> =>
  unlessGone(() => stepFunctions.send(new SendTaskSuccessCommand({ taskToken, output: '{}' })));

const unlessGone = async (send: () => Promise<unknown>): Promise<boolean> => {
  try {
    await send();
    return true;
  } catch (error) {
    const isGone =
      error instanceof TaskTimedOut || error instanceof TaskDoesNotExist || error instanceof InvalidToken;
    if (isGone) return false;
    throw error;
  }
};
