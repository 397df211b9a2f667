import type { ErrorCode, GenerationRecord, VideoRecord } from './types.ts';

/** What an error tells beside its message. */
interface Details {
  cause?: unknown;
  idempotencyKey?: string | undefined;
}

/** Every error of this client. */
export class GenerationServiceError extends Error {
  override name = 'GenerationServiceError';
  /** The key of a creation that may have happened. A repetition of the creation with this key is debited once. */
  declare readonly idempotencyKey: string | undefined;

  constructor(message: string, details: Details = {}) {
    super(message, details);
    this.idempotencyKey = details.idempotencyKey;
  }
}

/** The error in the body of an answer. Empty when the answer was not the service's own. */
interface Refusal {
  code?: ErrorCode;
  message?: string;
  fields?: Readonly<Record<string, string>>;
}

/** The service refused. Its subclasses say why; branch on them or on `code`. */
export class ApiError extends GenerationServiceError {
  override name = 'ApiError';
  declare readonly status: number;
  /** Undefined when the answer was not the service's own. */
  declare readonly code: ErrorCode | undefined;
  declare readonly headers: Headers;
  /** Names the call: quote it when you report a problem. */
  declare readonly requestId: string | undefined;
  /** Seconds to wait before the next call, when the service says so. */
  declare readonly retryAfterSeconds: number | undefined;
  /** What is wrong, by the path of the field, such as `references[2]`; empty but for a `ValidationError`. */
  declare readonly fields: Readonly<Record<string, string>>;

  constructor(
    { status, headers }: Response,
    { code, message = `HTTP ${status}`, fields = {} }: Refusal,
    idempotencyKey: string | undefined,
  ) {
    super(message, { idempotencyKey });
    const requestId = headers.get('x-request-id') ?? undefined;
    // A date is not told, and no service of ours sends one.
    const [retryAfter] = /^\d+$/.exec(headers.get('retry-after') ?? '') ?? [];
    const retryAfterSeconds = retryAfter && Number(retryAfter);
    Object.assign(this, { status, headers, code, fields, requestId, retryAfterSeconds });
  }
}

/** 400: fields are missing, unknown or wrong. */
export class ValidationError extends ApiError {
  override name = 'ValidationError';
}

/** 401: no usable API key, or the account is blocked (`code`). */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError';
}

/** 402: the balance does not cover the request. */
export class PaymentRequiredError extends ApiError {
  override name = 'PaymentRequiredError';
}

/** 403: the key lacks the scope, or the end-user is blocked. */
export class ForbiddenError extends ApiError {
  override name = 'ForbiddenError';
}

/** 404: you own nothing with that id. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/** 409: the state does not allow it, or the idempotency key was used with another body. */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}

/** 422: a content filter refused the prompt. */
export class ContentPolicyError extends ApiError {
  override name = 'ContentPolicyError';
}

/** 429, after the retries. */
export class RateLimitedError extends ApiError {
  override name = 'RateLimitedError';
}

/** 503: paused or not done yet; `retryAfterSeconds` says for how long. A creation is not repeated for you. */
export class TemporarilyUnavailableError extends ApiError {
  override name = 'TemporarilyUnavailableError';
}

/** 500 and other failures of the service or of what is before it, after the retries. */
export class ServerError extends ApiError {
  override name = 'ServerError';
}

const BY_STATUS: Record<number, typeof ApiError> = {
  400: ValidationError,
  401: AuthenticationError,
  402: PaymentRequiredError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  422: ContentPolicyError,
  429: RateLimitedError,
  503: TemporarilyUnavailableError,
};

/** The error of an answer that refuses, with its body. */
export const apiErrorOf = (
  response: Response,
  text: string,
  idempotencyKey: string | undefined,
): ApiError => {
  const Known = BY_STATUS[response.status] ?? (response.status >= 500 ? ServerError : ApiError);
  let error: Refusal | undefined;
  try {
    ({ error } = JSON.parse(text));
  } catch {
    // A page of a proxy, or nothing at all: the status says what is known.
  }
  return new Known(response, error ?? {}, idempotencyKey);
};

/** There was no answer, or only a part of one. */
export class ConnectionError extends GenerationServiceError {
  override name = 'ConnectionError';
}

/** An attempt, or a wait for a request, took longer than its limit. */
export class TimeoutError extends GenerationServiceError {
  override name = 'TimeoutError';
}

/** Your signal aborted the call. `cause` is the signal's reason. */
export class AbortedError extends GenerationServiceError {
  override name = 'AbortedError';
}

/** A request that was waited for did not succeed. */
export class RequestFailedError extends GenerationServiceError {
  override name = 'RequestFailedError';
  declare readonly record: GenerationRecord | VideoRecord;

  constructor(record: GenerationRecord | VideoRecord) {
    const why = 'error' in record ? `${record.error.code}: ${record.error.message}` : record.status;
    super(`The request ${record.requestId} did not succeed: ${why}`);
    this.record = record;
  }
}

/** A file could not be fetched in full. */
export class DownloadError extends GenerationServiceError {
  override name = 'DownloadError';
}

/** The file is gone: its time is over. */
export class ExpiredError extends DownloadError {
  override name = 'ExpiredError';
}

/** A file could not be uploaded. */
export class UploadError extends GenerationServiceError {
  override name = 'UploadError';
}

/** A webhook that this service did not sign, or not now. Answer 401. */
export class WebhookVerificationError extends GenerationServiceError {
  override name = 'WebhookVerificationError';
}
