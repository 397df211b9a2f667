/**
 * Runs in a worker thread: loads one function's bundle and passes it one event at a time, as Lambda's Node.js runtime does. Imports only
 * Node's own modules, so that a cold start costs only the bundle.
 */
import { openSync, writeSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type {
  AnswerMessage,
  FunctionErrorPayload,
  InvocationMessage,
  WorkerMessage,
  WorkerSettings,
} from './messages.ts';

type Handler = (event: unknown, context: unknown) => unknown;
type StreamingHandler = (event: unknown, response: Writable, context: unknown) => unknown;

const settings = workerData as WorkerSettings;

/** Exit status of Lambda's own runtime after an error outside a handler. */
const CRASH_EXIT_STATUS = 129;

/**
 * Output goes straight to the file. Through the parent's streams it would be lost when the thread ends, and those streams keep the
 * process alive.
 */
const log = openSync(settings.logFile, 'a');
const writeToLog = (
  chunk: string | Uint8Array,
  encoding?: BufferEncoding | ((error?: Error) => void),
  callback?: (error?: Error) => void,
) => {
  if (typeof chunk === 'string')
    writeSync(log, chunk, null, typeof encoding === 'string' ? encoding : 'utf8');
  else writeSync(log, chunk);
  const done = typeof encoding === 'function' ? encoding : callback;
  if (done) queueMicrotask(() => done());
  return true;
};
process.stdout.write = writeToLog;
process.stderr.write = writeToLog;

const say = (message: WorkerMessage) => parentPort?.postMessage(message);

/** Logs an error with its stack; returns it without, for the caller. */
const report = (label: string, thrown: unknown, errorType?: string): FunctionErrorPayload => {
  console.error(`${label}\t${thrown instanceof Error ? (thrown.stack ?? thrown) : String(thrown)}`);
  return {
    errorType: errorType ?? (thrown instanceof Error ? thrown.name : typeof thrown),
    errorMessage: thrown instanceof Error ? thrown.message : String(thrown),
    stackTrace: [],
  };
};

const streamingHandlers = new WeakSet<object>();
/** The beginning of a stream: the metadata of an HTTP response, and a delimiter. */
const preludes = new WeakMap<Writable, Buffer>();

/** What Lambda's Node.js runtime offers for streamed responses. */
const awslambda = {
  streamifyResponse: (handler: StreamingHandler): StreamingHandler => {
    streamingHandlers.add(handler);
    return handler;
  },
  HttpResponseStream: {
    from: (response: Writable, metadata: unknown): Writable => {
      preludes.set(response, Buffer.concat([Buffer.from(JSON.stringify(metadata)), Buffer.alloc(8)]));
      return response;
    },
  },
};
Object.assign(globalThis, { awslambda });

/** The response of an event. Each part goes to the caller at once. */
const openResponse = (requestId: string): Writable => {
  const response: Writable = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const prelude = preludes.get(response);
      preludes.delete(response);
      say({ type: 'chunk', requestId, chunk: prelude ? Buffer.concat([prelude, chunk]) : chunk });
      done();
    },
  });
  return response;
};

const loadHandler = async (): Promise<Handler> => {
  // Compiling a bundle is most of a cold start: keep the result for the next thread and the next run.
  enableCompileCache(settings.codeCacheDirectory);
  const loaded = await import(pathToFileURL(settings.entryFile).href);
  flushCompileCache();
  // Exports of a CommonJS bundle that Node.js cannot detect are under `default`.
  const handler = loaded[settings.handlerExport] ?? loaded.default?.[settings.handlerExport];
  if (typeof handler !== 'function') {
    throw Object.assign(new Error(`${settings.handlerExport} is undefined or not exported`), {
      name: 'Runtime.HandlerNotFound',
    });
  }
  return handler;
};

const contextOf = ({ requestId, deadlineEpochMilliseconds }: InvocationMessage) => ({
  callbackWaitsForEmptyEventLoop: true,
  functionVersion: '$LATEST',
  functionName: settings.functionName,
  memoryLimitInMB: String(settings.memoryMegabytes),
  logGroupName: settings.logGroupName,
  logStreamName: settings.logStreamName,
  invokedFunctionArn: settings.functionArn,
  awsRequestId: requestId,
  getRemainingTimeInMillis: () => Math.max(0, deadlineEpochMilliseconds - Date.now()),
});

const run = async (handler: Handler, message: InvocationMessage): Promise<WorkerMessage> => {
  const { requestId } = message;
  let returned: unknown;
  try {
    const event = JSON.parse(message.payload);
    if (streamingHandlers.has(handler)) {
      const response = openResponse(requestId);
      await (handler as StreamingHandler)(event, response, contextOf(message));
      await new Promise<void>((resolve) => response.end(resolve));
      return { type: 'done', requestId, payload: undefined };
    }
    returned = await handler(event, contextOf(message));
  } catch (error) {
    return { type: 'failed', requestId, error: report('Invoke Error', error) };
  }
  try {
    return { type: 'done', requestId, payload: JSON.stringify(returned) ?? 'null' };
  } catch (error) {
    return { type: 'failed', requestId, error: report('Invoke Error', error, 'Runtime.MarshalError') };
  }
};

const crash = (errorType?: string) => (thrown: unknown) => {
  say({ type: 'crashed', error: report('Uncaught Exception', thrown, errorType) });
  process.exit(CRASH_EXIT_STATUS);
};
process.on('uncaughtException', crash());
process.on('unhandledRejection', crash('Runtime.UnhandledPromiseRejection'));

/** Sends AWS calls to the runtime; returns what takes their answers. */
const openDirectCalls = async () => {
  const { interceptCalls } = (await import(settings.directCallsModule)) as typeof import('./direct-calls.ts');
  return interceptCalls(process.env.AWS_ENDPOINT_URL ?? '', (id, call) => say({ type: 'call', id, call }));
};

try {
  const takeAnswer = await openDirectCalls();
  // Before the handler: a bundle may call while it is loaded.
  parentPort?.on('message', async (message: InvocationMessage | AnswerMessage) => {
    if (message.type === 'answer') takeAnswer(message.id, message.answer);
    else say(await run(await loading, message));
  });
  const loading = loadHandler();
  await loading;
  say({ type: 'ready' });
} catch (error) {
  say({ type: 'not-ready', error: report('Init Error', error) });
}
