/** An event of an execution's history, in the field names of the Step Functions API. Timestamps are epoch seconds. */
export interface HistoryEvent {
  id: number;
  previousEventId: number;
  timestamp: number;
  type: string;
  [details: `${string}EventDetails`]: Record<string, unknown>;
}

/** How an execution can end. */
export type EndStatus = 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

/** The end of an execution. `stopDate` is in epoch seconds; `output` is JSON text. */
export interface Outcome {
  status: EndStatus;
  stopDate: number;
  output?: string;
  error?: string;
  cause?: string;
}

/** What a list of executions shows. Dates are epoch seconds. */
export interface ExecutionSummary {
  name: string;
  status: 'RUNNING' | EndStatus;
  startDate: number;
  stopDate?: number;
}

/** An error as a task ends with: the name `Retry` and `Catch` match, and the cause they hand on. */
export class TaskError extends Error {
  override readonly name: string;

  constructor(error: string, cause: string) {
    super(cause);
    this.name = error;
  }
}

/** An error no `Retry` or `Catch` may take: the interpreter reads these two flags. */
export class FatalTaskError extends TaskError {
  readonly isRetryable = false;
  readonly isCatchable = false;
}

/** 256 KiB: what an input, an output or a task's result may hold. https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html */
export const MAX_PAYLOAD_BYTES = 262_144;

/** The present time in epoch seconds with milliseconds, as the API counts. */
export const nowSeconds = (): number => Date.now() / 1_000;
