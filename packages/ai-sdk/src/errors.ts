import { AISDKError, APICallError } from '@ai-sdk/provider';
import {
  AbortedError,
  ApiError,
  ConnectionError,
  GenerationServiceError,
  TemporarilyUnavailableError,
  TimeoutError,
} from '@generation-service/client';

/** What is known of the call that failed. */
export interface FailedCall {
  /** Where the API is. */
  baseUrl: string;
  /** What was asked of the model. */
  body: unknown;
  /** The last answer, if there was one. */
  response: Response | undefined;
  signal: AbortSignal | undefined;
  /** Whether it had created a request before it failed. */
  hasCreated: boolean;
}

/** The AI SDK waits for a `Retry-After` below this; for a longer one it would call too early. */
const LONGEST_RETRY_AFTER_SECONDS = 60;

/**
 * Whether the AI SDK may make the call again: only in a short pause, before anything was created. The client has
 * already retried every other failure that is safe to repeat, with the same idempotency key.
 */
const isRetryable = (error: GenerationServiceError, { hasCreated }: FailedCall): boolean =>
  !hasCreated &&
  error instanceof TemporarilyUnavailableError &&
  error.retryAfterSeconds !== undefined &&
  error.retryAfterSeconds < LONGEST_RETRY_AFTER_SECONDS;

/**
 * The AI SDK's error for an error of the client, which is its `cause`. An abort is the reason of the signal. A refusal or a
 * missing answer is an `APICallError`. The rest are `AISDKError` by the client's name. Other values are returned unchanged.
 */
export const sdkErrorOf = async (error: unknown, call: FailedCall): Promise<unknown> => {
  if (!(error instanceof GenerationServiceError)) return error;
  if (error instanceof AbortedError) return call.signal?.reason ?? error;
  const { message } = error;
  const sent = { message, requestBodyValues: call.body, isRetryable: isRetryable(error, call), cause: error };
  if (error instanceof ApiError) {
    return new APICallError({
      ...sent,
      url: call.response?.url ?? call.baseUrl,
      statusCode: error.status,
      responseHeaders: Object.fromEntries(error.headers),
      ...(call.response && { responseBody: await call.response.text() }),
      data: { code: error.code, message, fields: error.fields },
    });
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return new APICallError({ ...sent, url: call.baseUrl });
  }
  return new AISDKError({ name: error.name, message, cause: error });
};
