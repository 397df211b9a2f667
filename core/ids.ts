import { randomBytes } from 'node:crypto';
import { decodeTime, encodeTime, ulid } from 'ulid';
import { type Instant, toInstant } from './time.ts';

/** What a request creates. */
export type RequestKind = 'image' | 'video';

const ULID_PATTERN = '[0-7][0-9A-HJKMNP-TV-Z]{25}';
/** The prefix of request ids by kind; a ULID follows it. */
export const REQUEST_ID_PREFIX = { image: 'img_', video: 'vid_' } as const satisfies Record<
  RequestKind,
  string
>;
const REQUEST_ID = new RegExp(`^(${Object.values(REQUEST_ID_PREFIX).join('|')})${ULID_PATTERN}$`);

/** The prefix of account ids; a ULID follows it. */
export const ACCOUNT_ID_PREFIX = 'acc_';
/** Source of a regular expression for an account id; the API key's pattern includes it. */
export const ACCOUNT_ID_PATTERN = `${ACCOUNT_ID_PREFIX}${ULID_PATTERN}`;

const ULID_RANDOM_CHARACTERS = 16;

/** A ULID, which sorts by its time, to the millisecond. Its random part is drawn in one call: `ulid` itself draws for each character. */
const newUlid = (now: Date): string => {
  const bytes = randomBytes(ULID_RANDOM_CHARACTERS);
  let index = 0;
  return ulid(now.getTime(), () => bytes.readUInt8(index++) / 256);
};

export const newRequestId = (kind: RequestKind, now: Date): string => REQUEST_ID_PREFIX[kind] + newUlid(now);

/** The kind of request an id belongs to; undefined when the text is not a request id. */
export const requestKindOf = (requestId: string): RequestKind | undefined => {
  if (!REQUEST_ID.test(requestId)) return undefined;
  return requestId.startsWith(REQUEST_ID_PREFIX.image) ? 'image' : 'video';
};

/** The creation time in the id of a request or an upload, to the millisecond. */
export const creationTimeOf = (id: string): Instant =>
  toInstant(new Date(decodeTime(id.slice(id.indexOf('_') + 1))));

/** The id of a request's output; `index` counts from 0. */
export const outputId = (requestId: string, index: number): string => `${requestId}_${index}`;

export const newAccountId = (now: Date): string => `${ACCOUNT_ID_PREFIX}${newUlid(now)}`;

/** What an event of a balance reports. */
export type BalanceEventKind = 'low' | 'exhausted';
const BALANCE_EVENT_ID = new RegExp(`^(${ACCOUNT_ID_PATTERN})_(low|exhausted)_\\d+`);

/** The id of an event of an account's balance. `number` distinguishes events of a kind: at most 12 digits, because a delivery is named by it. */
export const balanceEventId = (accountId: string, kind: BalanceEventKind, number: number): string =>
  `${accountId}_${kind}_${number}`;

/** The id and account of a balance event, from the event's id or the name of one of its deliveries; undefined for other texts. */
export const parseBalanceEventId = (text: string): { eventId: string; accountId: string } | undefined => {
  const [eventId, accountId] = BALANCE_EVENT_ID.exec(text) ?? [];
  return eventId === undefined || accountId === undefined ? undefined : { eventId, accountId };
};

export const newRemovalId = (now: Date): string => `rmv_${newUlid(now)}`;
export const newLedgerEntryId = (now: Date): string => `led_${newUlid(now)}`;
export const newUploadId = (now: Date): string => `upl_${newUlid(now)}`;

export const newAuditId = (now: Date): string => `${AUDIT_ID_PREFIX}${newUlid(now)}`;
/** The beginning of the ids of changes from this instant on. */
export const auditIdsFrom = (instant: Instant): string =>
  AUDIT_ID_PREFIX + encodeTime(Math.max(0, Date.parse(instant)), 10);
const AUDIT_ID_PREFIX = 'aud_';

/** A new id of a deletion, by which a call recognizes its own. */
export const newDeletionId = (now: Date): string => `del_${newUlid(now)}`;

/** A new signing secret of the Standard Webhooks scheme: 32 random bytes in base64, after `whsec_`. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
