import { CONNECT_TIMEOUT_MS, ConnectingAgent } from './connection.ts';

/** Limits of one kind of call to AWS, in milliseconds. The SDK's own limit on an answer only logs. */
export interface CallLimits {
  /** Attempts in all; the SDK retries throttling, server errors and time-outs. */
  maxAttempts: number;
  /** Longest wait for an answer to begin, the connection (5 s at most) and the sending included. */
  answerMs: number;
  /** Longest silence on the connection, also within an answer. The SDK watches for one of 6 s or more only after 3 s. */
  silenceMs: number;
  /** Longest call, all attempts included, where the caller aborts it; absent where the other limits suffice. */
  totalMs?: number;
}

/**
 * The limits of every AWS client, by kind of call. Calls that an API function makes end within its 27 s, attempts
 * and back-off included; `upload` is for `store-outputs` alone, `copy` for `measure-clips`. `docs/reliability.md`
 * has the longest.
 */
export const CALL_LIMITS = {
  // DynamoDB answers in single-digit milliseconds; a longer wait is a lost packet or a bad host.
  table: { maxAttempts: 4, answerMs: 2_500, silenceMs: 2_500 },
  stepFunctions: { maxAttempts: 4, answerMs: 2_500, silenceMs: 2_500 },
  secrets: { maxAttempts: 3, answerMs: 2_500, silenceMs: 2_500 },
  // Lists, removals, and reads of a video's index.
  files: { maxAttempts: 3, answerMs: 3_000, silenceMs: 3_000 },
  // Parts of 5 MiB, eight at a time: 23 Mbit/s suffice.
  upload: { maxAttempts: 3, answerMs: 15_000, silenceMs: 5_000 },
  // Parts of 5 MiB while their clip is fetched; all of it is aborted after 8 s.
  copy: { maxAttempts: 2, answerMs: 4_000, silenceMs: 3_000, totalMs: 8_000 },
  contentFilter: { maxAttempts: 3, answerMs: 5_000, silenceMs: 2_500 },
  // The function copies for up to 8 s, answers nothing before, and ends itself after 9 s.
  measuring: { maxAttempts: 2, answerMs: 11_000, silenceMs: 11_000, totalMs: 24_000 },
  // Lambda only queues the event.
  invocations: { maxAttempts: 3, answerMs: 2_500, silenceMs: 2_500 },
  // The operators' command line, and the function that stops executions with the stack.
  stack: { maxAttempts: 3, answerMs: 10_000, silenceMs: 5_000 },
} satisfies Record<string, CallLimits>;
export type CallKind = keyof typeof CALL_LIMITS;

/** Most connections of a client: the SDK's own default. */
const MAX_SOCKETS = 50;

/**
 * The options of a client for one kind of call. An attempt beyond its limits is aborted with `TimeoutError`, which
 * the SDK retries. Tests divide the limits by `speedup`.
 */
export const clientOptions = (kind: CallKind, speedup = 1) => {
  const { maxAttempts, answerMs, silenceMs } = CALL_LIMITS[kind];
  return {
    maxAttempts,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS / speedup,
      httpsAgent: new ConnectingAgent({ keepAlive: true, maxSockets: MAX_SOCKETS }),
      requestTimeout: answerMs / speedup,
      socketTimeout: silenceMs / speedup,
      // Without this, `requestTimeout` only logs.
      throwOnRequestTimeout: true,
    },
  };
};
