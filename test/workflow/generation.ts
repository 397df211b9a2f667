import type { Failure } from '../../core/errors.ts';
import type { NextStep } from '../../core/workflow/workflow-rules.ts';
import { REQUEST_ID } from '../unit/builders/entities.ts';
import { definitionText } from './asl.ts';
import { answers, type Behaviour, type Execution, runWorkflow, type Script } from './harness.ts';

/** What an execution of the `generation` workflow is started with. */
export const INPUT = { requestId: REQUEST_ID };

/** Runs the `generation` workflow for `REQUEST_ID`, or another input. */
export const runGeneration = (
  script: Script,
  around?: Parameters<typeof runWorkflow>[3],
  input = INPUT,
): Promise<Execution> => runWorkflow(definitionText('generation.asl.json'), input, script, around);

const step = (next: NextStep): Behaviour => answers(next);

/** The provider is finished: store what it produced. */
export const store = step({ next: 'store' });
/** The provider is at work: how long to wait for a sign of life, and in all. */
export const wait = (waitSeconds: number, timeoutSeconds = 3_601): Behaviour =>
  step({ next: 'wait', waitSeconds, timeoutSeconds });
/** Nothing was produced. */
export const fail = (error: Failure): Behaviour => step({ next: 'fail', error });
/** The request is ended or gone. */
export const stop = step({ next: 'stop' });
/** The function has done its work and has nothing to say. */
export const done = answers(undefined);

/** The token that a function's payload holds. */
export const tokenIn = (payload: unknown): string => (payload as { taskToken: string }).taskToken;

/** The payloads that a function was given, in order. */
export const givenTo = (execution: Execution, functionName: string): unknown[] =>
  execution.invocations.flatMap((invocation) =>
    invocation.functionName === functionName ? [invocation.payload] : [],
  );

/** The functions that were invoked, in order. */
export const invoked = (execution: Execution): string[] =>
  execution.invocations.map(({ functionName }) => functionName);
