import * as z from 'zod/mini';
import { logger } from '../core/observability.ts';
import { isTransient } from '../core/transient-errors.ts';
import { eventHandler } from './event-handler.ts';

/** The input common to all tasks: an id, never content. The record in the table is the truth. */
export const TaskInput = z.object({ requestId: z.string() });

/** The input of a task that begins a wait, with the token that ends the wait and the time at which the state was entered. */
export const WaitInput = z.extend(TaskInput, {
  taskToken: z.string(),
  enteredAt: z.string(),
  retries: z.number(),
});

/**
 * An AWS service stayed throttled or unreachable through the SDK's own retries, or the function's time ran out.
 * Repeating the step later may succeed: the state machine retries it by this name.
 */
export class TransientError extends Error {
  override name = 'TransientError';
}

/** The input of a task that returns a step: the steps that the execution's definition knows, possibly of another release. */
const Caller = z.object({ knownSteps: z.array(z.string()) });
const Step = z.object({ next: z.string() });

/** The step of a result is unknown to the execution's definition, which would mistake it for another step. */
export class UnknownStepError extends Error {
  override name = 'UnknownStepError';
}

const checkStep = (result: unknown, event: unknown): void => {
  const step = Step.safeParse(result);
  if (!step.success || Caller.parse(event).knownSteps.includes(step.data.next)) return;
  throw new UnknownStepError(`The definition of this execution does not know the step ${step.data.next}.`);
};

/**
 * Makes the Lambda handler of a state machine's task. It parses the task's input, adds the request id, if it has one,
 * to every log line and returns `run`'s result to the state machine. A step that the caller's definition does not know is not
 * returned: that throws `UnknownStepError`.
 *
 * Errors are not caught here: the state machine retries or catches them by name (`Retry` and `Catch` in `statemachines/`).
 * Transient AWS errors reach the state machine as `TransientError`, and so does a run that is unfinished 1 s before the
 * function's time limit.
 */
export const workflowTask = <Schema extends z.ZodMiniType<object>, Result>(
  schema: Schema,
  run: (input: z.infer<Schema>) => Promise<Result>,
) =>
  eventHandler<Result>(
    async (event) => {
      const input = schema.parse(event);
      if ('requestId' in input) logger.appendKeys({ requestId: input.requestId });
      try {
        const result = await run(input);
        checkStep(result, event);
        return result;
      } catch (error) {
        if (isTransient(error)) throw new TransientError(`${error.name}: ${error.message}`, { cause: error });
        throw error;
      }
    },
    () => {
      throw new TransientError('The function ran out of time.');
    },
  );
