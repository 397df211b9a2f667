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

/** The current time in epoch seconds, with milliseconds, as the API has it. */
export const nowSeconds = (): number => Date.now() / 1_000;
