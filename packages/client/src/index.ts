export { GenerationClient } from './client.ts';
export type { Download } from './download.ts';
export {
  AbortedError,
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  ContentPolicyError,
  DownloadError,
  ExpiredError,
  ForbiddenError,
  GenerationServiceError,
  NotFoundError,
  PaymentRequiredError,
  RateLimitedError,
  RequestFailedError,
  ServerError,
  TemporarilyUnavailableError,
  TimeoutError,
  UploadError,
  ValidationError,
  WebhookVerificationError,
} from './errors.ts';
export type { CallOptions, ClientOptions } from './http.ts';
export type {
  BalanceOptions,
  CreateOptions,
  EndUserListOptions,
  ModelsOptions,
  PageOptions,
  ReadOptions,
  RequestListOptions,
  RunOptions,
  UsageOptions,
  WaitOptions,
} from './options.ts';
export type { Page, PageList } from './pages.ts';
export type * from './types.ts';
export type { WithFiles } from './upload.ts';
export type { FinishedImages, FinishedVideo, Succeeded } from './waiting.ts';
export { type VerifiedWebhook, verifyWebhook, type WebhookHeaders } from './webhooks.ts';
