import type { Failure } from '../../core/errors.ts';
import type { NextStep } from '../../core/executions/step-rules.ts';
import type { StateEntry } from '../../core/provider-calls/provider-waits.ts';
import { ACCOUNT_ID, REQUEST_ID } from '../unit/builders/entities.ts';
import { definitionText } from './asl.ts';
import { answers, type Behaviour, type Execution, runWorkflow, type Script } from './harness.ts';

/** The input of the `generation` workflow. */
export const INPUT = { requestId: REQUEST_ID, model: 'xQI3Pro', accountId: ACCOUNT_ID };

/** Runs the `generation` workflow for `REQUEST_ID`, or another input. */
export const runGeneration = (
  script: Script,
  around?: Parameters<typeof runWorkflow>[3],
  input = INPUT,
): Promise<Execution> => runWorkflow(definitionText('generation.asl.json'), input, script, around);

const step = (next: NextStep): Behaviour => answers(next);

/** The provider has finished: store its outputs. */
export const store = step({ next: 'store' });
/** The provider is at work: the seconds to wait for it. */
export const wait = (seconds: number): Behaviour => step({ next: 'wait', timeoutSeconds: seconds });
/** The provider is busy: the seconds until it is called again. */
export const retry = (waitSeconds: number): Behaviour => step({ next: 'retry', waitSeconds });
/** Nothing was produced. */
export const fail = (error: Failure): Behaviour => step({ next: 'fail', error });
/** The request is terminal or gone. */
export const stop = step({ next: 'stop' });
/** The function succeeds without a result. */
export const done = answers(undefined);

/** The task token in a function's payload. */
export const tokenIn = (payload: unknown): string => (payload as { taskToken: string }).taskToken;

/** When the state of a wait was entered, in its function's payload. */
export const entryIn = (payload: unknown): StateEntry => payload as StateEntry;

/** The payloads of a function, in order. */
export const givenTo = (execution: Execution, functionName: string): unknown[] =>
  execution.invocations.flatMap((invocation) =>
    invocation.functionName === functionName ? [invocation.payload] : [],
  );

/** The invoked functions, in order. */
export const invoked = (execution: Execution): string[] =>
  execution.invocations.map(({ functionName }) => functionName);

/** The two functions that deliver what was made. */
export const DELIVERED = { 'store-outputs': done, 'settle-request': done } satisfies Script;
/** The first two states, and those that deliver what was made. */
export const BEGUN = ['Dispatch request', 'Where does the request stand?'];
export const STORED = ['Store outputs', 'Settle request'];
/** The failure by an error of ours. */
export const UNEXPECTED = {
  code: 'internal_error',
  message: 'Something unexpected went wrong on our side.',
} as const;
/** The states in which a request fails, and its execution with it. */
export const FAILED = ['Fail request', 'Has the request failed?', 'Request failed and refunded'];
