/** An event of an execution's history, in the field names of the Step Functions API. Timestamps are epoch seconds. */
export interface HistoryEvent {
  id: number;
  previousEventId: number;
  timestamp: number;
  type: string;
  [details: `${string}EventDetails`]: Record<string, unknown>;
}

/** The terminal states of an execution. */
export type EndStatus = 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

/** The end of an execution. `stopDate` is in epoch seconds; `output` is JSON text. */
export interface Outcome {
  status: EndStatus;
  stopDate: number;
  output?: string;
  error?: string;
  cause?: string;
}

/** An execution in a list. Dates are in epoch seconds. */
export interface ExecutionSummary {
  name: string;
  status: 'RUNNING' | EndStatus;
  startDate: number;
  stopDate?: number;
}

/** The error of a task: `Retry` and `Catch` match its name; the message is the cause. */
export class TaskError extends Error {
  override readonly name: string;

  constructor(error: string, cause: string) {
    super(cause);
    this.name = error;
  }
}

/** An error that no `Retry` or `Catch` handles. The interpreter reads these two flags. */
export class FatalTaskError extends TaskError {
  readonly isRetryable = false;
  readonly isCatchable = false;
}

/** 256 KiB, the limit on an input, an output and a task's result: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html */
export const MAX_PAYLOAD_BYTES = 262_144;

/** The current time in epoch seconds, with milliseconds, as the API has it. */
export const nowSeconds = (): number => Date.now() / 1_000;
