import type { Account } from './accounts.ts';
import { findImageModel } from './catalog.ts';
import { screenPrompt } from './content-filter.ts';
import type { NewGeneration, ParsedGeneration } from './create-generation-rules.ts';
import { listCredentials } from './credentials.ts';
import { countCreationWrite, type EndUser, toEndUser } from './end-users.ts';
import {
  AccountBlockedError,
  ConflictError,
  ForbiddenError,
  PaymentRequiredError,
  ServiceError,
  ValidationError,
} from './errors.ts';
import { startGeneration } from './executions.ts';
import { type Idempotency, keepKeyWrite, keptRequest } from './idempotency.ts';
import { newRequestId } from './ids.ts';
import { pricedPixels } from './image-sizes.ts';
import { endUserKey, type ItemKey, idempotencyKey, modelSettingsKey, pauseKey } from './keys.ts';
import { accountFoundInstead, balanceChangeWrites, type LedgerHead } from './ledger.ts';
import { dispatchProblem } from './model-routes.ts';
import { type ModelSettings, rateOf, toModelSettings } from './model-settings.ts';
import type { Thousandths } from './money.ts';
import { logger } from './observability.ts';
import { pauseSecondsLeft } from './pauses.ts';
import type { ProviderId } from './providers.ts';
import { imagePrice } from './rates.ts';
import { findRequest, type ImageRequest, insertRequestWrite } from './requests.ts';
import { failRequest } from './settle-request.ts';
import { batchGet, refusedBy, transact } from './table.ts';
import { toInstant } from './time.ts';

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

/** Loads what a creation is judged by in one parallel round trip, as far as its body names it. */
export const loadCreationFacts = async (
  accountId: string,
  parsed: ParsedGeneration,
  idempotency: Idempotency | undefined,
  now: Date,
): Promise<CreationFacts> => {
  const email = parsed.ok ? parsed.generation.endUserEmail : parsed.endUserEmail;
  const model = parsed.ok ? parsed.generation.model.id : parsed.model;
  const known = model !== undefined && findImageModel(model) ? model : undefined;
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
  request: ImageRequest;
  replayed: boolean;
}

/**
 * Accepts a request for images.
 *
 * 1. A repetition of an earlier creation, by its `Idempotency-Key` and body, is answered with that one.
 * 2. Refuse what its body, its model, its end-user, a pause, the content filter or its balance does not
 *    allow, in this order; nothing is written.
 * 3. Write debit, ledger entry, record, end-user counters and key in one transaction, under the same
 *    conditions.
 * 4. Start the execution that owns it from then on.
 *
 * Throws `ValidationError`, `ConflictError` (key used with another body, or end-user being removed),
 * `ForbiddenError`, `ServiceError` (`temporarily_unavailable`, `content_policy`), `PaymentRequiredError`,
 * and `RateLimitedError` when the account is too contended.
 */
export const createGeneration = async (
  account: Account,
  parsed: ParsedGeneration,
  facts: CreationFacts,
  idempotency: Idempotency | undefined,
  now: Date,
): Promise<Creation> => {
  if (facts.kept && facts.kept.fingerprint === idempotency?.fingerprint) return replay(facts.kept.requestId);
  const generation = acceptable(parsed, facts);
  if (facts.kept) throw keyUsedOtherwise();
  if (facts.endUser) checkEndUser(facts.endUser);
  if (facts.pausedSeconds !== undefined) throw paused(facts.pausedSeconds);
  await screenPrompt(generation.prompt);
  const request = newRequest(account.accountId, generation, unitPrice(generation, facts), now);
  const kept = await writeAccepted(request, account, idempotency, now);
  if (kept !== undefined) return replay(kept);
  await start(request);
  return { request, replayed: false };
};

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

const acceptable = (parsed: ParsedGeneration, { settings, credentials }: CreationFacts): NewGeneration => {
  const model = parsed.ok ? parsed.generation.model : findImageModel(parsed.model ?? '');
  const problem = model && dispatchProblem(model, settings, credentials);
  const fields = parsed.ok ? {} : parsed.error.fields;
  if (problem) throw new ValidationError({ ...fields, model: 'cannot be dispatched now' });
  if (!parsed.ok) throw parsed.error;
  return parsed.generation;
};

const unitPrice = ({ model, size }: NewGeneration, { settings }: CreationFacts): Thousandths => {
  const rate = rateOf(model.id, settings);
  if (!rate || !('perImage' in rate)) throw new Error(`${model.id} has no rate per image.`);
  return imagePrice(rate, pricedPixels(size));
};

const newRequest = (
  accountId: string,
  { model, ...generation }: NewGeneration,
  unitPriceThousandths: Thousandths,
  now: Date,
): ImageRequest => {
  const { webhookUrl, ...asked } = generation;
  return {
    requestId: newRequestId('image', now),
    accountId,
    model: model.id,
    ...asked,
    ...(webhookUrl === undefined ? {} : { webhookUrl }),
    unitPriceThousandths,
    debitThousandths: unitPriceThousandths * generation.images,
    createdAt: toInstant(now),
    status: 'queued',
  };
};

/** The places of the writes of an accepted creation in its transaction. */
const ACCOUNT_WRITE = 0;
const END_USER_WRITE = 2;
const REQUEST_WRITE = 3;
const KEY_WRITE = 4;

/** Writes an accepted creation, or gives the id of the request that its key led to meanwhile. */
const writeAccepted = async (
  request: ImageRequest,
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

/** An execution that cannot be started would leave the request queued for ever: it is failed and refunded. */
const start = async (request: ImageRequest): Promise<void> => {
  try {
    await startGeneration(request.requestId);
  } catch (error) {
    logger.error('an execution could not be started', {
      requestId: request.requestId,
      error: error as Error,
    });
    const failure = { code: 'internal_error', message: 'The request could not be started.' } as const;
    await failRequest(request.requestId, failure);
    throw new ServiceError(failure.code, failure.message, { cause: error });
  }
};
