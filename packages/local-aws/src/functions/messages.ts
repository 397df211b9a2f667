/** Messages between the runtime and its worker threads. */

import type { DirectAnswer, DirectCall } from '../aws/direct-calls.ts';

/** The `workerData` of a worker thread. */
export interface WorkerSettings {
  /** Absolute path of the module that holds the handler. */
  entryFile: string;
  handlerExport: string;
  /** Absolute path of the log that receives standard output and standard error. */
  logFile: string;
  /** Absolute path of the directory that keeps compiled code. */
  codeCacheDirectory: string;
  functionName: string;
  functionArn: string;
  memoryMegabytes: number;
  logGroupName: string;
  logStreamName: string;
  /** Of `direct-calls.ts`, as a URL to import. */
  directCallsModule: string;
}

/** One event for the handler. */
export interface InvocationMessage {
  type: 'invocation';
  requestId: string;
  /** The event as JSON text. */
  payload: string;
  deadlineEpochMilliseconds: number;
}

/** An error as Lambda reports it to the caller of the function. */
export interface FunctionErrorPayload {
  errorType: string;
  errorMessage: string;
  /** Always empty: callers must not depend on it. The stack is in the function's log. */
  stackTrace: string[];
}

/** The answer to an AWS call, by the call's number. */
export interface AnswerMessage {
  type: 'answer';
  id: number;
  answer: DirectAnswer;
}

/**
 * From a worker thread: the handler was loaded or not, an event succeeded or failed, an AWS call, or the thread crashed. A streamed
 * response comes in chunks, and its event succeeds without a payload.
 */
export type WorkerMessage =
  | { type: 'ready' }
  | { type: 'not-ready'; error: FunctionErrorPayload }
  | { type: 'chunk'; requestId: string; chunk: Uint8Array }
  | { type: 'done'; requestId: string; payload: string | undefined }
  | { type: 'failed'; requestId: string; error: FunctionErrorPayload }
  | { type: 'call'; id: number; call: DirectCall }
  | { type: 'crashed'; error: FunctionErrorPayload };
