import type { Account } from '../accounts/accounts.ts';
import { countCreationWrite, type EndUser, toEndUser } from '../end-users/end-users.ts';
import { pauseSecondsLeft } from '../end-users/pauses.ts';
import {
  AccountBlockedError,
  ConflictError,
  ForbiddenError,
  PaymentRequiredError,
  ServiceError,
  ValidationError,
} from '../errors.ts';
import { newRequestId } from '../ids.ts';
import { accountFoundInstead, balanceChangeWrites, type LedgerHead } from '../ledger/ledger.ts';
import { findModel } from '../models/catalog.ts';
import { pricedPixels } from '../models/image-sizes.ts';
import { type ModelSettings, rateOf, toModelSettings } from '../models/model-settings.ts';
import { imagePrice, videoPrice } from '../models/rates.ts';
import { logger } from '../observability.ts';
import { listCredentials } from '../provider-calls/credentials.ts';
import { dispatchProblem } from '../provider-calls/model-routes.ts';
import type { ProviderId } from '../provider-calls/providers.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { findRequest, insertRequestWrite } from '../requests/requests.ts';
import { batchGet } from '../table/batches.ts';
import { endUserKey, type ItemKey, idempotencyKey, modelSettingsKey, pauseKey } from '../table/keys.ts';
import { refusedBy, transact } from '../table/transactions.ts';
import { toInstant } from '../time.ts';
import { startWorkflow } from '../workflow/executions.ts';
import { screenPrompt } from './content-filter.ts';
import type { NewImageRequest } from './create-image-rules.ts';
import type { NewVideoRequest } from './create-video-rules.ts';
import type { ParsedCreation } from './creation-fields.ts';
import { type Idempotency, keepKeyWrite, keptRequest } from './idempotency.ts';

/** What can be created. */
export type NewRequest = NewImageRequest | NewVideoRequest;

/** What a creation is judged by, beside its body and its account. */
export interface CreationFacts {
  endUser: EndUser | undefined;
  settings: ModelSettings | undefined;
  credentials: ReadonlySet<ProviderId>;
  /** Whole seconds for which the end-user is paused with the model. */
  pausedSeconds: number | undefined;
  /** What the caller's `Idempotency-Key` has led to already. */
  kept: { requestId: string; fingerprint: string } | undefined;
}

/**
 * Access pattern 59: loads what a creation is judged by in one parallel round trip, as far as its body names
 * it.
 */
export const loadCreationFacts = async (
  accountId: string,
  parsed: ParsedCreation<NewRequest>,
  idempotency: Idempotency | undefined,
  now: Date,
): Promise<CreationFacts> => {
  const email = parsed.ok ? parsed.creation.endUserEmail : parsed.endUserEmail;
  const model = parsed.ok ? parsed.creation.model.id : parsed.model;
  const known = model !== undefined && findModel(model) ? model : undefined;
  const keys = {
    endUser: email === undefined ? undefined : endUserKey(accountId, email),
    settings: known === undefined ? undefined : modelSettingsKey(known),
    pause:
      email === undefined || known === undefined ? undefined : pauseKey({ accountId, email, model: known }),
    kept: idempotency && idempotencyKey(accountId, idempotency.keyDigest),
  };
  const wanted = Object.values(keys).filter((key) => key !== undefined);
  const [items, credentials] = await Promise.all([batchGet(wanted), listCredentials(now)]);
  const item = (key: ItemKey | undefined) => (key === undefined ? undefined : items[wanted.indexOf(key)]);
  const endUser = item(keys.endUser);
  const settings = item(keys.settings);
  return {
    endUser: endUser && toEndUser(endUser),
    settings: settings && toModelSettings(settings),
    credentials,
    pausedSeconds: pauseSecondsLeft(item(keys.pause), now),
    kept: keptRequest(item(keys.kept), now),
  };
};

/** An accepted creation; `replayed` when its `Idempotency-Key` had led to it before. */
export interface Creation {
  request: StoredRequest;
  replayed: boolean;
}

/**
 * Access pattern 60: accepts a request for images or a video.
 *
 * 1. A repetition of an earlier creation, by its `Idempotency-Key` and body, is answered with that one.
 * 2. Refuse what its body, its model, its end-user, a pause, the content filter or its balance does not
 *    allow, in this order; nothing is written.
 * 3. Write debit, ledger entry, record, end-user counters and key in one transaction, under the same
 *    conditions.
 * 4. Start the execution that owns it from then on. When that fails the request is accepted all the same.
 *
 * Throws `ValidationError`, `ConflictError` (key used with another body, or end-user being removed),
 * `ForbiddenError`, `ServiceError` (`temporarily_unavailable`, `content_policy`), `PaymentRequiredError`, and
 * `RateLimitedError` when the account is too contended.
 */
export const createRequest = async (
  account: Account,
  parsed: ParsedCreation<NewRequest>,
  facts: CreationFacts,
  idempotency: Idempotency | undefined,
  now: Date,
): Promise<Creation> => {
  if (isReplay(facts, idempotency)) return replay(facts.kept.requestId);
  const creation = acceptable(parsed, facts);
  if (facts.kept) throw keyUsedOtherwise();
  if (facts.endUser) checkEndUser(facts.endUser);
  if (facts.pausedSeconds !== undefined) throw paused(facts.pausedSeconds);
  await screenPrompt(creation.prompt);
  const request = newRequest(account.accountId, creation, facts, now);
  const kept = await writeAccepted(request, account, idempotency, now);
  if (kept !== undefined) return replay(kept);
  await start(request);
  return { request, replayed: false };
};

/** Whether the caller repeats a creation that was accepted before. */
export const isReplay = (
  facts: CreationFacts,
  idempotency: Idempotency | undefined,
): facts is CreationFacts & { kept: NonNullable<CreationFacts['kept']> } =>
  facts.kept !== undefined && facts.kept.fingerprint === idempotency?.fingerprint;

/** The first answer to a key again: the record as it was accepted. */
const replay = async (requestId: string): Promise<Creation> => {
  const request = await findRequest(requestId);
  if (!request) throw new ConflictError('The request this Idempotency-Key led to was deleted.');
  return { request, replayed: true };
};

const keyUsedOtherwise = (): ConflictError =>
  new ConflictError('This Idempotency-Key was used with another body.');

const checkEndUser = ({ blockedAt, deletingAt }: EndUser): void => {
  if (blockedAt !== undefined) throw new ForbiddenError('This end-user is blocked.');
  if (deletingAt !== undefined) throw new ConflictError('This end-user is being removed.');
};

const paused = (retryAfterSeconds: number): ServiceError =>
  new ServiceError(
    'temporarily_unavailable',
    'A recent generation for this end-user and model timed out at the provider.',
    { retryAfterSeconds },
  );

const acceptable = (
  parsed: ParsedCreation<NewRequest>,
  { settings, credentials }: CreationFacts,
): NewRequest => {
  const model = parsed.ok ? parsed.creation.model : findModel(parsed.model ?? '');
  const problem = model && dispatchProblem(model, settings, credentials);
  const fields = parsed.ok ? {} : parsed.error.fields;
  if (problem) throw new ValidationError({ model: 'cannot be dispatched now', ...fields });
  if (!parsed.ok) throw parsed.error;
  return parsed.creation;
};

/** The record of an accepted creation, with its price: fixed from now on. */
const newRequest = (
  accountId: string,
  creation: NewRequest,
  { settings }: CreationFacts,
  now: Date,
): StoredRequest => {
  const { model, prompt, endUserEmail, webhookUrl } = creation;
  const own = isImageRequest(creation) ? generationOf(creation, settings) : videoOf(creation, settings);
  return {
    requestId: newRequestId(own.kind, now),
    accountId,
    model: model.id,
    prompt,
    endUserEmail,
    ...(webhookUrl === undefined ? {} : { webhookUrl }),
    ...own,
    createdAt: toInstant(now),
    status: 'queued',
  };
};

const isImageRequest = (creation: NewRequest): creation is NewImageRequest => creation.model.type === 'image';

const generationOf = (creation: NewImageRequest, settings: ModelSettings | undefined) => {
  const { model, size, aspectRatio, images, sequential, references } = creation;
  const rate = rateOf(model.id, settings);
  if (!rate || !('perImage' in rate)) throw new Error(`${model.id} has no rate per image.`);
  const unitPriceThousandths = imagePrice(rate, pricedPixels(size));
  const debitThousandths = unitPriceThousandths * images;
  const asked = { size, aspectRatio, images, sequential, references };
  return { kind: 'image' as const, ...asked, unitPriceThousandths, debitThousandths };
};

const videoOf = (creation: NewVideoRequest, settings: ModelSettings | undefined) => {
  const { model, prompt: _, endUserEmail: __, webhookUrl: ___, ...asked } = creation;
  const rate = rateOf(model.id, settings);
  if (!rate || !('perSecond' in rate)) throw new Error(`${model.id} has no rate per second.`);
  const unitPriceThousandths = videoPrice(rate, asked.resolution);
  const debitThousandths = unitPriceThousandths * asked.billedSeconds;
  return { kind: 'video' as const, ...asked, unitPriceThousandths, debitThousandths };
};

/** The places of the writes of an accepted creation in its transaction. */
const ACCOUNT_WRITE = 0;
const END_USER_WRITE = 2;
const REQUEST_WRITE = 3;
const KEY_WRITE = 4;

/** Writes an accepted creation, or gives the id of the request that its key led to meanwhile. */
const writeAccepted = async (
  request: StoredRequest,
  account: Account,
  idempotency: Idempotency | undefined,
  now: Date,
): Promise<string | undefined> => {
  const { accountId, endUserEmail: email, debitThousandths, requestId } = request;
  let head: LedgerHead = account;
  let keptId: string | undefined;
  await transact(async (refusals) => {
    // The id is new, so only an earlier try of this very transaction can have taken it: it was committed.
    if (refusedBy(refusals, REQUEST_WRITE)) return [];
    if (idempotency && refusedBy(refusals, KEY_WRITE)) {
      const kept = keptRequest(refusals[KEY_WRITE]?.item, now);
      if (kept?.fingerprint !== idempotency.fingerprint) throw keyUsedOtherwise();
      keptId = kept.requestId;
      return [];
    }
    const endUser = refusals[END_USER_WRITE]?.item;
    if (endUser) checkEndUser(toEndUser(endUser));
    const found = accountFoundInstead(refusals[ACCOUNT_WRITE]);
    if (found?.blockedAt !== undefined) throw new AccountBlockedError();
    head = found ?? head;
    if (head.balanceThousandths < debitThousandths) {
      // What is missing may be the debit of the same creation, made since the key was looked up.
      keptId = idempotency && (await findKept(accountId, idempotency, now));
      if (keptId === undefined) throw new PaymentRequiredError();
      return [];
    }
    const debit = {
      amountThousandths: -debitThousandths,
      reason: 'generation',
      reference: requestId,
    } as const;
    return [
      ...balanceChangeWrites(head, { ...debit, guardFunds: true }, now).writes,
      countCreationWrite({ accountId, email }, debitThousandths, request.createdAt),
      insertRequestWrite(request),
      ...(idempotency ? [keepKeyWrite(accountId, idempotency, requestId, now)] : []),
    ];
  });
  return keptId;
};

/** The id of the request that a key led to by now with the same body. */
const findKept = async (
  accountId: string,
  { keyDigest, fingerprint }: Idempotency,
  now: Date,
): Promise<string | undefined> => {
  const [item] = await batchGet([idempotencyKey(accountId, keyDigest)]);
  const kept = keptRequest(item, now);
  return kept?.fingerprint === fingerprint ? kept.requestId : undefined;
};

/** One that could not be started stays queued: the reconciler starts it. */
const start = async ({ requestId }: StoredRequest): Promise<void> => {
  try {
    await startWorkflow(requestId);
  } catch (error) {
    logger.error('an execution could not be started', { requestId, error: error as Error });
  }
};
