import { randomBytes } from 'node:crypto';
import { decodeTime, ulid } from 'ulid';
import { type Instant, toInstant } from './time.ts';

export type RequestKind = 'image' | 'video';

const ULID_PATTERN = '[0-7][0-9A-HJKMNP-TV-Z]{25}';
/** What the ids of each kind of request begin with; a ULID follows. */
export const REQUEST_ID_PREFIX = { image: 'img_', video: 'vid_' } as const satisfies Record<
  RequestKind,
  string
>;
const REQUEST_ID = new RegExp(`^(${Object.values(REQUEST_ID_PREFIX).join('|')})${ULID_PATTERN}$`);

/** Matches an account id; also a part of the API key's pattern. */
export const ACCOUNT_ID_PATTERN = `acc_${ULID_PATTERN}`;

/** A new request id. Ids sort by creation time to the millisecond. */
export const newRequestId = (kind: RequestKind, now: Date): string =>
  REQUEST_ID_PREFIX[kind] + ulid(now.getTime());

/** What a request id names, or undefined when the text is no request id at all. */
export const requestKindOf = (requestId: string): RequestKind | undefined => {
  if (!REQUEST_ID.test(requestId)) return undefined;
  return requestId.startsWith(REQUEST_ID_PREFIX.image) ? 'image' : 'video';
};

/** When a request of this id was created, to the millisecond. */
export const creationTimeOf = (requestId: string): Instant =>
  toInstant(new Date(decodeTime(requestId.slice(requestId.indexOf('_') + 1))));

/** The id of a request's output; `index` counts from 0. */
export const outputId = (requestId: string, index: number): string => `${requestId}_${index}`;

export const newAccountId = (now: Date): string => `acc_${ulid(now.getTime())}`;

export const newLedgerEntryId = (now: Date): string => `led_${ulid(now.getTime())}`;

/** A webhook signing secret of the Standard Webhooks scheme: 32 random bytes, base64. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
