/** What the runtime and the worker threads that run functions say to each other. */

/** Handed to a worker thread when it starts. */
export interface WorkerSettings {
  /** Absolute path of the module that holds the handler. */
  entryFile: string;
  handlerExport: string;
  /** Absolute path of the file that standard output and standard error are appended to. */
  logFile: string;
  functionName: string;
  functionArn: string;
  memoryMegabytes: number;
  logGroupName: string;
  logStreamName: string;
}

/** One event for the handler. */
export interface InvocationMessage {
  requestId: string;
  /** The event as JSON text. */
  payload: string;
  deadlineEpochMilliseconds: number;
}

/** An error as Lambda reports it to whoever invoked the function. */
export interface FunctionErrorPayload {
  errorType: string;
  errorMessage: string;
  /** Always empty: the stack goes to the function's log, as callers must not depend on it. */
  stackTrace: string[];
}

/** What a worker thread says: it loaded the handler or could not, an event is done or failed, or the whole thread is lost. */
export type WorkerMessage =
  | { type: 'ready' }
  | { type: 'not-ready'; error: FunctionErrorPayload }
  | { type: 'done'; requestId: string; payload: string }
  | { type: 'failed'; requestId: string; error: FunctionErrorPayload }
  | { type: 'crashed'; error: FunctionErrorPayload };
