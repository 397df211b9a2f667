import type { Account } from '../../../core/accounts/accounts.ts';
import type { EndUser } from '../../../core/end-users/end-users.ts';
import type { LedgerEntry } from '../../../core/ledger/ledger.ts';
import type { ModelSettings } from '../../../core/models/model-settings.ts';
import type { ProviderAttempt } from '../../../core/provider-calls/provider-attempts.ts';
import {
  type ImageRequest,
  isTerminal,
  type StoredOutput,
  type StoredRequest,
  type VideoRequest,
} from '../../../core/requests/request-rules.ts';
import {
  accountKey,
  accountListing,
  dueListing,
  endUserKey,
  endUserListing,
  modelSettingsKey,
  requestKey,
  requestListing,
} from '../../../core/table/keys.ts';
import { addSeconds } from '../../../core/time.ts';
import type { MemoryTable } from '../fakes/memory-table.ts';
import { NOW } from './clocks.ts';

export const ACCOUNT_ID = 'acc_01JD4KXQ8M0000000000000000';
export const REQUEST_ID = 'img_01JD4KXQ8M0000000000000001';
export const VIDEO_ID = 'vid_01JD4KXQ8M0000000000000002';
export const KEY_ID = 'key_0123456789abcdef0123456789abcdef';
export const EMAIL = 'ada@example.com';

/** An account with 100 xTokens and three entries in its ledger. */
export const anAccount = (overrides: Partial<Account> = {}): Account => ({
  accountId: ACCOUNT_ID,
  name: 'demo',
  balanceThousandths: 100_000,
  ledgerEntries: 3,
  balanceUpdatedAt: '2026-11-19T09:00:00.000Z',
  createdAt: '2026-11-01T09:00:00.000Z',
  webhookSecret: 'whsec_c2VjcmV0',
  limits: { requestsPerSecond: 50, burst: 100 },
  ...overrides,
});

/** The end-user's own id, taken from the request that created them. */
const END_USER_ID = 'img_01JCA3FXM00000000000000001';

/** An end-user with two requests, last active a day before `NOW`. */
export const anEndUser = (overrides: Partial<EndUser> = {}): EndUser => ({
  accountId: ACCOUNT_ID,
  email: EMAIL,
  endUserId: END_USER_ID,
  createdAt: '2026-11-10T09:00:00.000Z',
  lastActiveAt: '2026-11-19T09:00:00.000Z',
  totalRequests: 2,
  activeRequests: 1,
  spentThousandths: 8_000,
  ...overrides,
});

/** A queued request for one image of xQI3Pro at 4 xTokens, accepted at `NOW`. */
export const anImageRequest = (overrides: Partial<ImageRequest> = {}): ImageRequest => {
  const images = overrides.images ?? 1;
  const unitPriceThousandths = overrides.unitPriceThousandths ?? 4_000;
  return {
    kind: 'image',
    requestId: REQUEST_ID,
    accountId: ACCOUNT_ID,
    endUserEmail: EMAIL,
    endUserId: END_USER_ID,
    model: 'xQI3Pro',
    prompt: 'a lighthouse',
    size: '1K',
    aspectRatio: 'auto',
    images,
    sequential: false,
    references: [],
    unitPriceThousandths,
    debitThousandths: unitPriceThousandths * images,
    createdAt: NOW.toISOString(),
    retentionDays: 90,
    status: 'queued',
    ...overrides,
  };
};

/** A queued request for a 5 s video of xW3.0s in 1080p at 10 xTokens a second, accepted at `NOW`. */
export const aVideoRequest = (overrides: Partial<VideoRequest> = {}): VideoRequest => {
  const durationSec = overrides.durationSec ?? 5;
  const billedSeconds = overrides.billedSeconds ?? durationSec;
  const unitPriceThousandths = overrides.unitPriceThousandths ?? 10_000;
  return {
    kind: 'video',
    requestId: VIDEO_ID,
    accountId: ACCOUNT_ID,
    endUserEmail: EMAIL,
    endUserId: END_USER_ID,
    model: 'xW3.0s',
    prompt: 'waves',
    resolution: '1080p',
    durationSec,
    billedSeconds,
    ratio: 'adaptive',
    referenceImages: [],
    referenceVideos: [],
    referenceAudios: [],
    unitPriceThousandths,
    debitThousandths: unitPriceThousandths * billedSeconds,
    createdAt: NOW.toISOString(),
    retentionDays: 90,
    status: 'queued',
    ...overrides,
  };
};

/** An output with a file. */
export const aStoredOutput = (index: number, overrides: Partial<StoredOutput> = {}): StoredOutput => ({
  index,
  objectKey: `outputs/${REQUEST_ID}/${index}.png`,
  contentType: 'image/png',
  sizeBytes: 1234,
  width: 1024,
  height: 1024,
  ...overrides,
});

/** The one output of a video, with its file. */
export const aStoredVideo = (overrides: Partial<StoredOutput> = {}): StoredOutput => ({
  index: 0,
  objectKey: `outputs/${VIDEO_ID}/0.mp4`,
  contentType: 'video/mp4',
  sizeBytes: 123_456,
  width: 1920,
  height: 1080,
  durationSec: 5.04,
  ...overrides,
});

/** A provider call claimed at `NOW`, its outcome unknown. */
export const anAttempt = (overrides: Partial<ProviderAttempt> = {}): ProviderAttempt => ({
  requestId: REQUEST_ID,
  call: 0,
  attempt: 0,
  assignment: 1,
  provider: 'modelstudio',
  upstreamModel: 'qwen-image',
  baseUrl: 'https://modelstudio.example.com',
  startedAt: NOW.toISOString(),
  aliveAt: NOW.toISOString(),
  ...overrides,
});

/** Entry `number` of a ledger whose entries each credit 1 xToken. */
export const aLedgerEntry = (number: number, overrides: Partial<LedgerEntry> = {}): LedgerEntry => ({
  id: `led_${number}`,
  accountId: ACCOUNT_ID,
  number,
  type: 'credit',
  reason: 'topup',
  amountThousandths: 1_000,
  balanceAfterThousandths: 1_000 * number,
  reference: 'invoice',
  createdAt: NOW.toISOString(),
  ...overrides,
});

/** A request's index attributes as the service writes them: due until it has ended. */
export const listingOf = (request: StoredRequest) => {
  const { accountId, endUserEmail } = request;
  return {
    ...requestListing(accountId, endUserEmail),
    ...(isTerminal(request) ? endOf(request) : dueOf(request)),
  };
};

/** What an ended request has in its indexes; the times are far away. */
const endOf = ({ status }: StoredRequest) => ({
  ttl: Date.parse(FAR) / 1000,
  ...(status === 'succeeded' && { expiresAt: FAR }),
});
const FAR = '2099-01-01T00:00:00.000Z';

/** When an unfinished request is due: a processing one is taken to have been accepted at its creation. */
const dueOf = ({ requestId, status, createdAt }: StoredRequest) =>
  status === 'queued'
    ? dueListing('START', requestId, addSeconds(createdAt, 45))
    : dueListing('CHECK', requestId, addSeconds(createdAt, 300));

/** Puts a request into the table with its index attributes. */
export const putRequest = (memory: MemoryTable, request: StoredRequest): void =>
  memory.put(requestKey(request.requestId), { ...listingOf(request), ...request });

/** Puts the settings of a model into the table. */
export const putModelSettings = (memory: MemoryTable, settings: ModelSettings): void =>
  memory.put(modelSettingsKey(settings.model), { ...settings });

/** Puts an account into the table with its index attributes. */
export const putAccount = (memory: MemoryTable, account: Account = anAccount()): void => {
  const { accountId, createdAt } = account;
  memory.put(accountKey(accountId), { ...accountListing(accountId, createdAt), ...account });
};

/** Puts an end-user into the table with its index attributes. */
export const putEndUser = (memory: MemoryTable, endUser: EndUser): void => {
  const { accountId, createdAt, email } = endUser;
  memory.put(endUserKey(accountId, email), { ...endUserListing(accountId, createdAt), ...endUser });
};
