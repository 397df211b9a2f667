import type { Account } from '../accounts/accounts.ts';
import { type EndUser, toEndUser } from '../end-users/end-users.ts';
import { pauseSecondsLeft } from '../end-users/pauses.ts';
import { ConflictError, type FieldErrors, ForbiddenError, ServiceError, ValidationError } from '../errors.ts';
import type { CatalogModel } from '../models/catalog.ts';
import { dimensionsOf } from '../models/image-sizes.ts';
import type { Parameter } from '../models/model-parameters.ts';
import {
  currentModelSettings,
  leftRoutesIn,
  type ModelSettings,
  type RouteCosts,
  routeCostsIn,
} from '../models/model-settings.ts';
import type { Rate } from '../models/rate-schemas.ts';
import { accountRateOf } from '../models/rates.ts';
import { retiredProblem } from '../models/retirement.ts';
import { listCredentials } from '../provider-calls/credentials.ts';
import {
  dispatchProblem,
  earlyLimitsOf,
  type LeftRoutes,
  type RouteFacts,
  routesOf,
} from '../provider-calls/model-routes.ts';
import { pixelsProblem, type UpstreamLimits, untakenParameters } from '../provider-calls/upstream-limits.ts';
import type { ProviderId } from '../provider-names.ts';
import { inputFilesOf } from '../requests/input-files.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { findRequests } from '../requests/requests.ts';
import { endUserKey, type ItemKey, idempotencyKey, pauseKey } from '../table/keys.ts';
import { batchGet } from '../table/table.ts';
import { type InputContext, ownInputProblem, requestsNamed } from '../uploads/own-inputs.ts';
import type { NewImageRequest } from './create-image-rules.ts';
import type { NewVideoRequest } from './create-video-rules.ts';
import { type IdempotencyRecord, toIdempotencyRecord } from './idempotency.ts';
import type { NewRequest, Submission } from './submission.ts';

/** The facts for judging a creation, besides the submission and the account. */
export interface CreationFacts {
  endUser: EndUser | undefined;
  settings: ModelSettings | undefined;
  credentials: ReadonlySet<ProviderId>;
  /** Why the model is refused after its end. */
  retired?: string | undefined;
  /** Our cost by route. */
  routeCosts?: RouteCosts;
  /** The routes that operators left by hand. */
  left?: LeftRoutes;
  /** Whole seconds for which the end-user is still paused for the model. */
  pausedSeconds: number | undefined;
  /** The request that the caller's `Idempotency-Key` created before. */
  idempotencyRecord: IdempotencyRecord | undefined;
  /** The requests whose outputs the creation names as inputs, as far as they exist; absent for none. */
  requestsNamed?: readonly StoredRequest[];
}

/**
 * Access pattern 52: reads the facts for a submission in one parallel round trip, as far as model and end-user are named. Model
 * settings and credentials are cached, other facts strongly consistent.
 */
export const loadCreationFacts = async (
  accountId: string,
  submission: Submission,
): Promise<CreationFacts> => {
  const { idempotency, now } = submission;
  const { endUserEmail: email, model } = submission.ok ? submission.creation : submission;
  const keys = {
    endUser: email === undefined ? undefined : endUserKey(accountId, email),
    pause: email === undefined || !model ? undefined : pauseKey({ accountId, email, model: model.id }),
    idempotencyRecord: idempotency && idempotencyKey(accountId, idempotency.keyDigest),
  };
  const present = Object.values(keys).filter((key) => key !== undefined);
  const inputs = submission.ok ? inputFilesOf(submission.creation) : [];
  const [items, settings, credentials, named] = await Promise.all([
    batchGet(present),
    currentModelSettings(now),
    listCredentials(now),
    findRequests(requestsNamed(inputs)),
  ]);
  const item = (key: ItemKey | undefined) => (key === undefined ? undefined : items[present.indexOf(key)]);
  const endUser = item(keys.endUser);
  return {
    endUser: endUser && toEndUser(endUser),
    settings: model && settings.get(model.id),
    retired: model && retiredProblem(model.id, settings, now),
    credentials,
    routeCosts: routeCostsIn(settings),
    left: leftRoutesIn(settings),
    pausedSeconds: pauseSecondsLeft(item(keys.pause), now),
    idempotencyRecord: toIdempotencyRecord(item(keys.idempotencyRecord), now),
    requestsNamed: named.requests,
  };
};

/** The facts that decide the first route of a request for a model. */
export const routeFactsOf = (modelId: string, { credentials, left = {} }: CreationFacts): RouteFacts => {
  const providers = routesOf(modelId).map(({ provider }) => provider);
  return { keyless: new Set(providers.filter((provider) => !credentials.has(provider))), left };
};

/** Why a model is refused that has no route, provider or price now. */
const NOT_DISPATCHABLE = 'cannot be dispatched now';

/**
 * Checks a new submission, except price, content filter and reference videos, and returns its creation and the account's rate.
 * First come fields and model: `ValidationError`, also for a model that has retired or cannot be dispatched. A used key throws
 * `ConflictError`. A blocked end-user throws `ForbiddenError`, an end-user under removal `ConflictError`. A pause comes last:
 * `ServiceError` with `temporarily_unavailable`.
 */
export const judgeCreation = (
  account: Account,
  submission: Submission,
  facts: CreationFacts,
): { creation: NewRequest; rate: Rate } => {
  const { settings, credentials, left, retired } = facts;
  const notOffered = { model: retired ?? NOT_DISPATCHABLE };
  const rateFor = (model: CatalogModel): Rate | undefined =>
    retired !== undefined || dispatchProblem(model, settings, credentials, left)
      ? undefined
      : accountRateOf(model.id, settings, account);
  if (!submission.ok) {
    const { model, error } = submission;
    throw model && !rateFor(model) ? new ValidationError({ ...notOffered, ...error.fields }) : error;
  }
  const { creation } = submission;
  const rate = rateFor(creation.model);
  if (!rate) throw new ValidationError(notOffered);
  const unfit = {
    ...earlyProblems(creation, earlyLimitsOf(creation.model.id, credentials, left)),
    ...ownInputProblems(creation, {
      accountId: account.accountId,
      requests: facts.requestsNamed ?? [],
      now: submission.now,
    }),
  };
  if (Object.keys(unfit).length > 0) throw new ValidationError(unfit);
  if (facts.idempotencyRecord) throw keyConflict();
  if (facts.endUser) checkEndUser(facts.endUser);
  if (facts.pausedSeconds !== undefined) throw paused(facts.pausedSeconds);
  return { creation, rate };
};

/** Errors by field for files of ours that the account cannot use. */
const ownInputProblems = (creation: NewRequest, context: InputContext): FieldErrors =>
  Object.fromEntries(
    inputFilesOf(creation).flatMap((input) => {
      const problem = ownInputProblem(input, context);
      return problem === undefined ? [] : [[input.field, problem]];
    }),
  );

/** The refusal of an `Idempotency-Key` that was used with another body. */
export const keyConflict = (): ConflictError =>
  new ConflictError('This Idempotency-Key was used with another body.');

/** Throws `ForbiddenError` for a blocked end-user, `ConflictError` for one being removed. */
export const checkEndUser = ({ blockedAt, deletingAt }: EndUser): void => {
  if (blockedAt !== undefined) throw new ForbiddenError('This end-user is blocked.');
  if (deletingAt !== undefined) throw new ConflictError('This end-user is being removed.');
};

const paused = (retryAfterSeconds: number): ServiceError =>
  new ServiceError(
    'temporarily_unavailable',
    'A recent generation for this end-user and model timed out at the provider.',
    { retryAfterSeconds },
  );

/** Errors by field for a creation that no route of its model takes: those of the first route. */
export const earlyProblems = (creation: NewRequest, limits: readonly UpstreamLimits[]): FieldErrors => {
  const problems = limits.map((each) => routeProblems(creation, each));
  const isTaken = problems.some((fields) => Object.keys(fields).length === 0);
  return isTaken ? {} : (problems[0] ?? {});
};

/**
 * Errors by field for a creation that is within the catalog's limits, but not within the upstream's. Empty
 * unless the route refuses early: otherwise the upstream decides. Excludes reference videos, which are
 * measured last.
 */
const routeProblems = (creation: NewRequest, limits: UpstreamLimits): FieldErrors => {
  const { promptCharacters } = limits;
  const isTooLong = promptCharacters !== undefined && [...creation.prompt].length > promptCharacters;
  return {
    ...(isTooLong && { prompt: `must be at most ${promptCharacters} characters long` }),
    ...Object.fromEntries(
      untakenBy(limits, creation).map((name) => [name, 'is taken by no route of the model']),
    ),
    ...('size' in creation ? imageProblems(creation, limits) : videoProblems(creation, limits)),
  };
};

/** The parameters of a creation that a route does not take. Limits without a list say nothing of them. */
const untakenBy = (limits: UpstreamLimits, creation: NewRequest): Parameter[] =>
  limits.parameters ? untakenParameters(limits, creation) : [];

const imageProblems = (
  { model, size, aspectRatio, sequential, images, references }: NewImageRequest,
  limits: UpstreamLimits,
): FieldErrors => {
  const fields: FieldErrors = {};
  const { images: most, groupImages, references: mostReferences } = limits;
  const problem = pixelsProblem(limits, model, dimensionsOf(size, aspectRatio));
  if (problem !== undefined) fields.size = problem;
  if (sequential && groupImages !== undefined && images > groupImages)
    fields.sequentialOptions = `must ask for at most ${groupImages} images`;
  if (!sequential && most !== undefined && images > most) fields.n = `must be at most ${most} now`;
  if (mostReferences !== undefined && references.length > mostReferences)
    fields.references = `must be at most ${mostReferences} now`;
  return fields;
};

const videoProblems = (
  { resolution, ratio, durationSec, referenceImages }: NewVideoRequest,
  limits: UpstreamLimits,
): FieldErrors => {
  const fields: FieldErrors = {};
  const { resolutions, ratios, minSeconds = 1, maxSeconds, references } = limits;
  if (resolutions && !resolutions.includes(resolution))
    fields.resolution = `must be one of ${resolutions.join(', ')} now`;
  if (ratios && ratio !== undefined && !ratios.includes(ratio))
    fields.ratio = `must be one of ${ratios.join(', ')} now`;
  if (durationSec < minSeconds) fields.durationSec = `must be at least ${minSeconds} now`;
  if (maxSeconds !== undefined && durationSec > maxSeconds)
    fields.durationSec = `must be at most ${maxSeconds} now`;
  if (references !== undefined && referenceImages.length > references)
    fields.referenceImages = `must be at most ${references} now`;
  return fields;
};
