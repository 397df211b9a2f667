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

/** The thread that runs the function of `spec`, with `options.environment` as its only environment variables. */
const startThread = (spec: FunctionSpec, options: WorkerOptions): Worker => {
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
  return new Worker(strippedModule('./bootstrap.ts'), {
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
};

/** The event that a worker runs. */
interface RunningEvent {
  requestId: string;
  takeChunk: TakeChunk | undefined;
  /** Parts of the response that no `takeChunk` takes. */
  chunks: Uint8Array[];
  finish: (result: InvocationResult) => void;
}

type MessageOf<Type extends WorkerMessage['type']> = Extract<WorkerMessage, { type: Type }>;

/** A thread with the event that it runs, and the outcome of its load. */
class ThreadWorker implements FunctionWorker {
  readonly ready: Promise<FunctionErrorPayload | undefined>;
  private readonly spec: FunctionSpec;
  private readonly options: WorkerOptions;
  private readonly thread: Worker;
  private readonly initTimer: NodeJS.Timeout;
  private readonly loaded = Promise.withResolvers<FunctionErrorPayload | undefined>();
  private measured: ReturnType<Worker['performance']['eventLoopUtilization']>;
  private isUsable = true;
  private crash: FunctionErrorPayload | undefined;
  private current: RunningEvent | undefined;

  constructor(spec: FunctionSpec, options: WorkerOptions) {
    this.spec = spec;
    this.options = options;
    this.ready = this.loaded.promise;
    this.thread = startThread(spec, options);
    this.measured = this.thread.performance.eventLoopUtilization();
    this.initTimer = setTimeout(() => {
      this.end('Sandbox.Timedout', `Init timed out after ${INIT_TIMEOUT_MILLISECONDS / 1000} seconds`);
      void this.thread.terminate();
    }, INIT_TIMEOUT_MILLISECONDS);
    this.thread.on('message', (message: WorkerMessage) => this.receive(message));
    this.thread.on('error', (error: NodeJS.ErrnoException) => this.endWithError(error));
    this.thread.on('exit', (exitCode) => this.end('Runtime.ExitError', exitReason(exitCode)));
  }

  run(payload: string, takeChunk?: TakeChunk): Promise<InvocationResult> {
    const requestId = randomUUID();
    const { promise, resolve } = Promise.withResolvers<InvocationResult>();
    const timeoutTimer = setTimeout(() => this.timeOut(requestId), this.spec.timeoutSeconds * 1000);
    this.current = {
      requestId,
      takeChunk,
      chunks: [],
      finish: (result) => {
        this.current = undefined;
        clearTimeout(timeoutTimer);
        this.thread.unref();
        resolve(result);
      },
    };
    this.thread.ref();
    this.thread.postMessage({
      type: 'invocation',
      requestId,
      payload,
      deadlineEpochMilliseconds: Date.now() + this.spec.timeoutSeconds * 1000,
    } satisfies InvocationMessage);
    return promise;
  }

  takeUtilization(): number {
    const { utilization } = this.thread.performance.eventLoopUtilization(this.measured);
    this.measured = this.thread.performance.eventLoopUtilization();
    return utilization;
  }

  isAlive(): boolean {
    return this.isUsable;
  }

  async terminate(): Promise<void> {
    this.isUsable = false;
    await this.thread.terminate();
  }

  private receive(message: WorkerMessage): void {
    if (message.type === 'call') void this.answer(message);
    else if (message.type === 'ready' || message.type === 'not-ready') this.finishLoad(message);
    else if (message.type === 'crashed') this.crash = message.error;
    else if (this.current && message.requestId === this.current.requestId) respond(this.current, message);
  }

  private finishLoad(message: MessageOf<'ready' | 'not-ready'>): void {
    clearTimeout(this.initTimer);
    if (message.type === 'not-ready') this.isUsable = false;
    this.loaded.resolve(message.type === 'ready' ? undefined : message.error);
    // An idle thread must not keep the process alive.
    this.thread.unref();
  }

  private async answer({ id, call }: MessageOf<'call'>): Promise<void> {
    const answered = await this.options.callAws(call);
    this.thread.postMessage({ type: 'answer', id, answer: answered } satisfies AnswerMessage);
  }

  private endWithError(error: NodeJS.ErrnoException): void {
    appendFileSync(this.options.logFile, `${error.stack ?? error}\n`);
    const isOutOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    this.end(
      isOutOfMemory ? 'Runtime.ExitError' : error.name,
      isOutOfMemory ? 'Runtime exited with error: signal: killed' : error.message,
    );
  }

  /** Fails the load and the running event of a thread that has ended. */
  private end(errorType: string, reason: string): void {
    const { crash, current } = this;
    this.isUsable = false;
    clearTimeout(this.initTimer);
    const error = crash ?? { errorType, errorMessage: `Error: ${reason}`, stackTrace: [] };
    this.loaded.resolve(error);
    current?.finish(
      failure(
        crash ? error : { ...error, errorMessage: `RequestId: ${current.requestId} ${error.errorMessage}` },
      ),
    );
  }

  private timeOut(requestId: string): void {
    this.isUsable = false;
    const seconds = this.spec.timeoutSeconds.toFixed(2);
    this.current?.finish(
      failureOf('Sandbox.Timedout', `RequestId: ${requestId} Error: Task timed out after ${seconds} seconds`),
    );
    void this.thread.terminate();
  }
}

/** Passes a part of the response on, or finishes the event with its failure or its whole response. */
const respond = (
  event: RunningEvent,
  message: Exclude<WorkerMessage, MessageOf<'call' | 'ready' | 'not-ready' | 'crashed'>>,
): void => {
  if (message.type === 'chunk') {
    if (event.takeChunk) event.takeChunk(message.chunk);
    else event.chunks.push(message.chunk);
  } else if (message.type === 'failed') {
    event.finish(failure(message.error));
  } else if (message.payload === undefined) {
    event.finish(answerOf(Buffer.concat(event.chunks).toString(), (text) => text));
  } else {
    event.takeChunk?.(Buffer.from(message.payload));
    event.finish(answerOf(message.payload, JSON.parse));
  }
};

/** Starts a worker thread for `spec`, with `options.environment` as its only environment variables. */
export const startWorker = (spec: FunctionSpec, options: WorkerOptions): FunctionWorker =>
  new ThreadWorker(spec, options);
