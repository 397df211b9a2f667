import type { BalanceEventData } from '../../core/accounts/balance-event-answers.ts';
import type { QuoteAnswer } from '../../core/creation/quote-answers.ts';
import type {
  DeletedEndUserAnswer,
  EndUserAnswer,
  EndUserBlock,
  EndUserBudget,
} from '../../core/end-users/end-user-answers.ts';
import { ERROR_STATUS, type ErrorCode } from '../../core/errors.ts';
import type { BalanceAnswer, BalanceHistoryEntry } from '../../core/ledger/balance-answers.ts';
import type { UsageAnswer } from '../../core/ledger/usage-answers.ts';
import { CATALOG } from '../../core/models/catalog.ts';
import type { BulkDeletionAnswer, DeletedRequestAnswer } from '../../core/requests/deletion-answers.ts';
import type { GenerationRecord, VideoRecord, WebhookType } from '../../core/requests/records.ts';
import type { UploadAnswer } from '../../core/uploads/upload-answers.ts';

const IMAGES_ID = 'img_01M80FHZVG0RV5YDGY3R1P0Q7G';
const VIDEO_ID = 'vid_01M80FJ3VGG72WJHSJFD50R51H';
const EMAIL = 'ada@example.com';
const SERVICE = 'https://api.example.com';
const FILES = 'https://files.example.com/outputs';
const EXPIRES_AT = '2026-11-23T00:57:40.948Z';
const FINISHED_AT = '2026-11-22T01:57:40.948Z';

const images = {
  requestId: IMAGES_ID,
  model: 'xSD4.5',
  prompt: 'a lighthouse at dusk',
  referencesCount: 0,
  endUserEmail: EMAIL,
  createdAt: '2026-11-22T01:57:28.048Z',
};
const video = {
  requestId: VIDEO_ID,
  model: 'xW3.0s',
  prompt: 'waves at a lighthouse',
  endUserEmail: EMAIL,
  createdAt: '2026-11-22T01:57:32.144Z',
};
const failure = {
  status: 'failed' as const,
  error: {
    code: 'content_policy' as const,
    message: 'The content filter of the provider refused the request.',
  },
  finishedAt: FINISHED_AT,
};

const succeededImages: GenerationRecord = {
  ...images,
  status: 'succeeded',
  images: [
    {
      id: `${IMAGES_ID}_0`,
      expiresAt: EXPIRES_AT,
      url: `${FILES}/9f86d081884c7d65/0.jpg?Expires=1795395460&Signature=MEUCIQ&Key-Pair-Id=K2JCJMDEHXQW5F`,
      size: '2048x2048',
    },
    { id: `${IMAGES_ID}_1`, expiresAt: EXPIRES_AT, error: { code: 'storage_failed' }, size: '2048x2048' },
  ],
  cost: 4,
  finishedAt: FINISHED_AT,
};
const succeededVideo: VideoRecord = {
  ...video,
  status: 'succeeded',
  videos: [
    {
      id: `${VIDEO_ID}_0`,
      expiresAt: EXPIRES_AT,
      url: `${FILES}/2c26b46b68ffc68f/0.mp4?Expires=1795395460&Signature=MEQCIF&Key-Pair-Id=K2JCJMDEHXQW5F`,
      duration: 3,
      resolution: '720p',
    },
  ],
  cost: 18,
  finishedAt: FINISHED_AT,
};

/** Records of images by status. */
export const IMAGE_RECORDS: Record<GenerationRecord['status'], GenerationRecord> = {
  queued: { ...images, status: 'queued', pollUrl: `${SERVICE}/v1/generations/${IMAGES_ID}` },
  processing: { ...images, status: 'processing' },
  succeeded: succeededImages,
  failed: { ...images, ...failure },
  expired: { ...images, status: 'expired', finishedAt: FINISHED_AT },
};

/** Records of a video by status. */
export const VIDEO_RECORDS: Record<VideoRecord['status'], VideoRecord> = {
  queued: { ...video, status: 'queued', pollUrl: `${SERVICE}/v1/videos/${VIDEO_ID}` },
  processing: { ...video, status: 'processing' },
  succeeded: succeededVideo,
  failed: { ...video, ...failure },
  expired: { ...video, status: 'expired', finishedAt: FINISHED_AT },
};

/** Bodies of requests. */
export const BODIES = {
  images: {
    model: images.model,
    prompt: images.prompt,
    endUserEmail: EMAIL,
    size: '2K',
    aspectRatio: 'landscape',
    n: 2,
  },
  video: {
    model: video.model,
    prompt: video.prompt,
    endUserEmail: EMAIL,
    resolution: '720p',
    durationSec: 3,
  },
  quote: {
    kind: 'image',
    model: images.model,
    prompt: images.prompt,
    endUserEmail: EMAIL,
    n: 2,
  },
  bulkDelete: { requestIds: [IMAGES_ID, VIDEO_ID] },
  budget: { perDay: 20, perMonth: 300 },
  upload: { contentType: 'image/png', bytes: 482_113 },
};

const endUser: EndUserAnswer = {
  email: EMAIL,
  createdAt: images.createdAt,
  lastActiveAt: video.createdAt,
  totalRequests: 2,
  totalXTokensSpent: 22,
  blockedAt: null,
};
const blocked: EndUserBlock = { email: EMAIL, blockedAt: '2026-11-22T02:00:00.000Z' };
const unblocked: EndUserBlock = { email: EMAIL, blockedAt: null };
const budget: EndUserBudget = {
  email: EMAIL,
  perDay: 20,
  perMonth: 300,
  spentToday: 18,
  spentThisMonth: 22,
};
const deletedEndUser: DeletedEndUserAnswer = {
  email: EMAIL,
  deleted: true,
  removedRequests: 2,
  removedObjects: 2,
};
const deletedRequest: DeletedRequestAnswer = { requestId: IMAGES_ID, deleted: true, removedObjects: 1 };
const bulkDeletion: BulkDeletionAnswer = {
  requested: 2,
  deleted: 1,
  removedObjects: 1,
  conflicts: [VIDEO_ID],
  notFound: [],
};
const balance: BalanceAnswer = { xTokens: 978, updatedAt: video.createdAt };
const entry: BalanceHistoryEntry = {
  id: 'led_01M80FJ3VGTK8DXDDACT9FVJ0S',
  type: 'debit',
  reason: 'generation',
  amount: 18,
  balanceAfter: 978,
  reference: VIDEO_ID,
  createdAt: video.createdAt,
};
const quote: QuoteAnswer = {
  xTokens: 8,
  balance: 978,
  covered: true,
  budgets: [{ of: 'endUser', per: 'day', limit: 20, spent: 4, renewsAt: '2026-11-23T00:00:00.000Z' }],
};
const sums = { requests: 1, debited: 18, refunded: 0, xTokens: 18 };
const usage: UsageAnswer = {
  from: '2026-11-01',
  to: '2026-12-01',
  by: ['day', 'model'],
  items: [{ day: video.createdAt.slice(0, 10), model: video.model, ...sums }],
  total: sums,
};
const uploadUrl =
  'https://d111111abcdef8.cloudfront.net/uploads/kq3n5X0fJY2u8bQm1cVtZw/upl_01M80FJ3VGTK8DXDDACT9FVJ0T.png';
const upload: UploadAnswer = {
  uploadId: 'upl_01M80FJ3VGTK8DXDDACT9FVJ0T',
  url: `${uploadUrl}?Expires=1795226400&Key-Pair-Id=K1&Signature=abc&Hash-Algorithm=SHA256`,
  upload: {
    url: 'https://generation-outputs.s3.eu-central-1.amazonaws.com/',
    fields: {
      'Content-Type': 'image/png',
      key: 'uploads/kq3n5X0fJY2u8bQm1cVtZw/upl_01M80FJ3VGTK8DXDDACT9FVJ0T.png',
      Policy: 'eyJleHBpcmF0aW9uIjoi...',
      'X-Amz-Signature': '0c1f...',
    },
  },
  expiresAt: '2026-11-24T02:00:00.000Z',
};
const page = <Item>(...items: Item[]) => ({ items, page: 1, pageSize: 20, hasMore: false });

/** Answers that are not one record. */
export const ANSWERS = {
  generations: page(IMAGE_RECORDS.processing),
  videos: page(VIDEO_RECORDS.processing),
  endUsers: page(endUser),
  balanceHistory: page(entry),
  models: { data: ['xZI1.0Pro', 'xW3.0s'].map((id) => CATALOG.find((model) => model.id === id)) },
  deletedRequest,
  bulkDeletion,
  blocked,
  unblocked,
  deletedEndUser,
  balance,
  quote,
  usage,
  upload,
  budget,
};

/** Values of parameters. */
export const PATH_EXAMPLES = { requestId: IMAGES_ID, videoId: VIDEO_ID, email: EMAIL };

const ACCOUNT_ID = 'acc_01JD4KXQ8M0000000000000003';
const eventOf = (type: WebhookType, data: GenerationRecord | VideoRecord | BalanceEventData) => ({
  type,
  timestamp: FINISHED_AT,
  data,
});
/** Bodies of webhooks. */
export const EVENTS = {
  'generation.succeeded': eventOf('generation.succeeded', IMAGE_RECORDS.succeeded),
  'generation.failed': eventOf('generation.failed', IMAGE_RECORDS.failed),
  'video.succeeded': eventOf('video.succeeded', VIDEO_RECORDS.succeeded),
  'video.failed': eventOf('video.failed', VIDEO_RECORDS.failed),
  'balance.low': eventOf('balance.low', { accountId: ACCOUNT_ID, xTokens: 48, below: 50 }),
  'balance.exhausted': eventOf('balance.exhausted', { accountId: ACCOUNT_ID, xTokens: 3.5, required: 12 }),
} satisfies Record<WebhookType, unknown>;

const MESSAGES: Record<ErrorCode, string> = {
  validation_error: 'The request is not valid: prompt.',
  unauthorized: 'A valid API key is required: Authorization: Bearer <API_KEY>.',
  account_blocked: 'This account is blocked.',
  payment_required: 'This request costs 12 xTokens; the balance is 3.5 xTokens.',
  forbidden: 'This key lacks the scope generations:write.',
  not_found: 'There is no such generation.',
  conflict: 'This generation is queued or processing.',
  content_policy: 'The content filter refused the prompt.',
  rate_limited: 'Too many requests in a short window.',
  provider_timeout: 'The upstream provider did not finish in time.',
  provider_error: 'The upstream provider failed.',
  internal_error: 'Something unexpected went wrong on our side.',
  temporarily_unavailable: 'A recent generation for this end-user and model timed out at the provider.',
};

/** The body of a refusal with each code. */
export const REFUSALS = Object.fromEntries(
  (Object.keys(ERROR_STATUS) as ErrorCode[]).map((code) => [
    code,
    {
      error: {
        code,
        message: MESSAGES[code],
        ...(code === 'validation_error' && { fields: { prompt: 'must not be empty' } }),
      },
    },
  ]),
) as Record<ErrorCode, { error: { code: ErrorCode; message: string; fields?: Record<string, string> } }>;
