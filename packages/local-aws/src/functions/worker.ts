import { randomBytes, randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { CallDirectly } from '../aws/direct-calls.ts';
import type { FunctionSpec } from '../template/functions.ts';
import type { InvocationResult, TakeChunk } from '../types.ts';
import type {
  AnswerMessage,
  FunctionErrorPayload,
  InvocationMessage,
  WorkerMessage,
  WorkerSettings,
} from './messages.ts';

/** Lambda's limit on loading a function: https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html */
const INIT_TIMEOUT_MILLISECONDS = 10_000;

/** Lambda's limit on a synchronous invocation's payload, in both directions. */
export const MAX_PAYLOAD_BYTES = 6_291_556;

/** Objects of an event live here. V8 would take 48 MB a thread once it is busy, and be no faster. */
const YOUNG_GENERATION_MEGABYTES = 8;

/** What a worker needs besides the function. */
export interface WorkerOptions {
  environment: Record<string, string>;
  /** Receives the function's standard output and standard error. */
  logFile: string;
  /** Keeps the compiled code of functions. */
  codeCacheDirectory: string;
  /** Answers its AWS calls. */
  callAws: CallDirectly;
}

/** A worker thread that runs one function, one event at a time. */
export interface FunctionWorker {
  /** Resolves when the handler is loaded; with an error when it was not, which leaves the worker useless. */
  ready: Promise<FunctionErrorPayload | undefined>;
  /** Runs one event (JSON text); with `takeChunk`, the response is taken part by part. Never rejects. */
  run(payload: string, takeChunk?: TakeChunk): Promise<InvocationResult>;
  /** The share of the time since the last call, 0 to 1, in which the thread computed or waited for a processor. */
  takeUtilization(): number;
  /** False once the thread has ended or is ending. */
  isAlive(): boolean;
  /** Ends the thread; a running event fails with an exit error. */
  terminate(): Promise<void>;
}

const failure = (error: FunctionErrorPayload): InvocationResult => ({
  payload: error,
  functionError: 'Unhandled',
});

const failureOf = (errorType: string, errorMessage: string) =>
  failure({ errorType, errorMessage, stackTrace: [] });

const answerOf = (payload: string, read: (text: string) => unknown): InvocationResult =>
  Buffer.byteLength(payload) > MAX_PAYLOAD_BYTES
    ? failureOf(
        'Function.ResponseSizeTooLarge',
        `Response payload size exceeded maximum allowed payload size (${MAX_PAYLOAD_BYTES} bytes).`,
      )
    : { payload: read(payload) };

const exitReason = (exitCode: number) =>
  exitCode === 0
    ? 'Runtime exited without providing a reason'
    : `Runtime exited with error: exit status ${exitCode}`;

const logStreamName = (now: Date) =>
  `${now.toISOString().slice(0, 10).replaceAll('-', '/')}/[$LATEST]${randomBytes(16).toString('hex')}`;

const modules = new Map<string, URL>();

/**
 * A module of this folder as JavaScript. The types are stripped once a process: stripping in each thread would cost a
 * third of a cold start.
 */
const strippedModule = (file: string): URL => {
  const known = modules.get(file);
  if (known) return known;
  const text = stripTypeScriptTypes(readFileSync(new URL(file, import.meta.url), 'utf8'));
  const url = new URL(`data:text/javascript,${encodeURIComponent(text)}`);
  modules.set(file, url);
  return url;
};

/** Starts a worker thread for `spec`, with `options.environment` as its only environment variables. */
export const startWorker = (spec: FunctionSpec, options: WorkerOptions): FunctionWorker => {
  const settings: WorkerSettings = {
    entryFile: spec.entryFile,
    handlerExport: spec.handlerExport,
    logFile: options.logFile,
    codeCacheDirectory: options.codeCacheDirectory,
    functionName: spec.name,
    functionArn: spec.arn,
    memoryMegabytes: spec.memoryMegabytes,
    logGroupName: spec.logGroupName,
    logStreamName: logStreamName(new Date()),
    directCallsModule: strippedModule('./direct-calls.ts').href,
  };
  const thread = new Worker(strippedModule('./bootstrap.ts'), {
    workerData: settings,
    env: options.environment,
    argv: [],
    // Options of this process, such as a test runner's, must not reach the function.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdout: true,
    stderr: true,
    resourceLimits: {
      maxOldGenerationSizeMb: spec.memoryMegabytes,
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MEGABYTES,
    },
  });

  let measured = thread.performance.eventLoopUtilization();
  const ready = Promise.withResolvers<FunctionErrorPayload | undefined>();
  let isAlive = true;
  let crash: FunctionErrorPayload | undefined;
  let current:
    | {
        requestId: string;
        takeChunk: TakeChunk | undefined;
        /** Parts that nobody takes one by one. */
        chunks: Uint8Array[];
        finish: (result: InvocationResult) => void;
      }
    | undefined;

  const initTimer = setTimeout(() => {
    end('Sandbox.Timedout', `Init timed out after ${INIT_TIMEOUT_MILLISECONDS / 1000} seconds`);
    void thread.terminate();
  }, INIT_TIMEOUT_MILLISECONDS);

  /** The thread has ended: fails what waits for it. */
  const end = (errorType: string, reason: string) => {
    isAlive = false;
    clearTimeout(initTimer);
    const error = crash ?? { errorType, errorMessage: `Error: ${reason}`, stackTrace: [] };
    ready.resolve(error);
    current?.finish(
      failure(
        crash ? error : { ...error, errorMessage: `RequestId: ${current.requestId} ${error.errorMessage}` },
      ),
    );
  };

  const answer = async ({ id, call }: Extract<WorkerMessage, { type: 'call' }>) => {
    const answered = await options.callAws(call);
    thread.postMessage({ type: 'answer', id, answer: answered } satisfies AnswerMessage);
  };

  thread.on('message', (message: WorkerMessage) => {
    if (message.type === 'call') {
      void answer(message);
    } else if (message.type === 'ready' || message.type === 'not-ready') {
      clearTimeout(initTimer);
      if (message.type === 'not-ready') isAlive = false;
      ready.resolve(message.type === 'ready' ? undefined : message.error);
      // An idle thread must not keep the process alive.
      thread.unref();
    } else if (message.type === 'crashed') {
      crash = message.error;
    } else if (message.requestId !== current?.requestId) {
      return;
    } else if (message.type === 'chunk') {
      if (current.takeChunk) current.takeChunk(message.chunk);
      else current.chunks.push(message.chunk);
    } else if (message.type === 'failed') {
      current.finish(failure(message.error));
    } else if (message.payload === undefined) {
      current.finish(answerOf(Buffer.concat(current.chunks).toString(), (text) => text));
    } else {
      current.takeChunk?.(Buffer.from(message.payload));
      current.finish(answerOf(message.payload, JSON.parse));
    }
  });
  thread.on('error', (error: NodeJS.ErrnoException) => {
    appendFileSync(options.logFile, `${error.stack ?? error}\n`);
    const isOutOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    end(
      isOutOfMemory ? 'Runtime.ExitError' : error.name,
      isOutOfMemory ? 'Runtime exited with error: signal: killed' : error.message,
    );
  });
  thread.on('exit', (exitCode) => end('Runtime.ExitError', exitReason(exitCode)));

  const run = (payload: string, takeChunk?: TakeChunk): Promise<InvocationResult> => {
    const requestId = randomUUID();
    const { promise, resolve } = Promise.withResolvers<InvocationResult>();
    const timeoutTimer = setTimeout(() => {
      isAlive = false;
      const seconds = spec.timeoutSeconds.toFixed(2);
      current?.finish(
        failureOf(
          'Sandbox.Timedout',
          `RequestId: ${requestId} Error: Task timed out after ${seconds} seconds`,
        ),
      );
      void thread.terminate();
    }, spec.timeoutSeconds * 1000);
    current = {
      requestId,
      takeChunk,
      chunks: [],
      finish: (result) => {
        current = undefined;
        clearTimeout(timeoutTimer);
        thread.unref();
        resolve(result);
      },
    };
    thread.ref();
    thread.postMessage({
      type: 'invocation',
      requestId,
      payload,
      deadlineEpochMilliseconds: Date.now() + spec.timeoutSeconds * 1000,
    } satisfies InvocationMessage);
    return promise;
  };

  return {
    ready: ready.promise,
    run,
    takeUtilization: () => {
      const { utilization } = thread.performance.eventLoopUtilization(measured);
      measured = thread.performance.eventLoopUtilization();
      return utilization;
    },
    isAlive: () => isAlive,
    terminate: async () => {
      isAlive = false;
      await thread.terminate();
    },
  };
};
