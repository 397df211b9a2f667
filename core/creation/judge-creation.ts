import type { EndUser } from '../end-users/end-users.ts';
import { requiredEnv } from '../environment.ts';
import { ConflictError, type FieldErrors, ForbiddenError, ServiceError, ValidationError } from '../errors.ts';
import { findModel } from '../models/catalog.ts';
import { dispatchProblem, earlyLimitsOf } from '../provider-calls/model-routes.ts';
import { uploadProblem } from '../uploads/upload-urls.ts';
import type { CreationFacts } from './creation-facts.ts';
import { earlyProblems } from './route-rules.ts';
import type { NewRequest, Submission } from './submission.ts';

/** Why a model is refused that has no route, provider or price now. */
export const NOT_DISPATCHABLE = 'cannot be dispatched now';

/**
 * Checks a new submission, except price, content filter and reference videos, and returns its creation. The
 * checks, in this order: fields and a model that cannot be dispatched (`ValidationError`); a used key
 * (`ConflictError`); the end-user (`ForbiddenError` if blocked, `ConflictError` if being removed); a pause
 * (`ServiceError` with `temporarily_unavailable`).
 */
export const judgeCreation = (
  accountId: string,
  submission: Submission,
  facts: CreationFacts,
): NewRequest => {
  const model = submission.ok ? submission.creation.model : findModel(submission.model ?? '');
  const problem = model && dispatchProblem(model, facts.settings, facts.credentials);
  const fields = submission.ok ? {} : submission.error.fields;
  if (problem) throw new ValidationError({ model: NOT_DISPATCHABLE, ...fields });
  if (!submission.ok) throw submission.error;
  const { creation } = submission;
  const unfit = {
    ...earlyProblems(creation, earlyLimitsOf(creation.model.id, facts.credentials)),
    ...uploadProblems(creation, accountId, submission.now),
  };
  if (Object.keys(unfit).length > 0) throw new ValidationError(unfit);
  if (facts.idempotencyRecord) throw keyConflict();
  if (facts.endUser) checkEndUser(facts.endUser);
  if (facts.pausedSeconds !== undefined) throw paused(facts.pausedSeconds);
  return creation;
};

/** Errors by field for uploads of another account, and for own ones that have expired. */
const uploadProblems = (creation: NewRequest, accountId: string, now: Date): FieldErrors => {
  const filesUrl = requiredEnv('FILE_DELIVERY_BASE_URL');
  return Object.fromEntries(
    textsOf(creation).flatMap(([field, text]) => {
      const problem = uploadProblem(text, accountId, filesUrl, now);
      return problem === undefined ? [] : [[field, problem]];
    }),
  );
};

/** The texts of the fields of a creation that can be URLs of files, with their places in lists. */
const textsOf = ({ model, prompt, endUserEmail, webhookUrl, ...fields }: NewRequest): [string, string][] =>
  Object.entries(fields)
    .flatMap(([field, value]): [string, unknown][] =>
      Array.isArray(value) ? value.map((one, index) => [`${field}[${index}]`, one]) : [[field, value]],
    )
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string');

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
