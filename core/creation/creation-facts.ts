import { type EndUser, toEndUser } from '../end-users/end-users.ts';
import { pauseSecondsLeft } from '../end-users/pauses.ts';
import { findModel } from '../models/catalog.ts';
import {
  currentModelSettings,
  type ModelSettings,
  type RouteCosts,
  routeCostsIn,
} from '../models/model-settings.ts';
import { listCredentials } from '../provider-calls/credentials.ts';
import type { ProviderId } from '../provider-names.ts';
import { endUserKey, type ItemKey, idempotencyKey, pauseKey } from '../table/keys.ts';
import { batchGet } from '../table/table.ts';
import { type IdempotencyRecord, toIdempotencyRecord } from './idempotency.ts';
import type { Submission } from './submission.ts';

/** The facts for judging a creation, besides the submission and the account. */
export interface CreationFacts {
  endUser: EndUser | undefined;
  settings: ModelSettings | undefined;
  credentials: ReadonlySet<ProviderId>;
  /** What routes cost us. */
  routeCosts?: RouteCosts;
  /** Whole seconds for which the end-user is still paused for the model. */
  pausedSeconds: number | undefined;
  /** The request that the caller's `Idempotency-Key` created before. */
  idempotencyRecord: IdempotencyRecord | undefined;
}

/**
 * Access pattern 52: reads the facts in one parallel round trip, as far as the submission names its model and end-user: model settings and
 * credentials as cached, the others strongly consistent.
 */
export const loadCreationFacts = async (
  accountId: string,
  submission: Submission,
): Promise<CreationFacts> => {
  const { idempotency, now } = submission;
  const email = submission.ok ? submission.creation.endUserEmail : submission.endUserEmail;
  const modelId = submission.ok ? submission.creation.model.id : submission.model;
  const model = modelId === undefined ? undefined : findModel(modelId)?.id;
  const keys = {
    endUser: email === undefined ? undefined : endUserKey(accountId, email),
    pause: email === undefined || model === undefined ? undefined : pauseKey({ accountId, email, model }),
    idempotencyRecord: idempotency && idempotencyKey(accountId, idempotency.keyDigest),
  };
  const present = Object.values(keys).filter((key) => key !== undefined);
  const [items, settings, credentials] = await Promise.all([
    batchGet(present),
    currentModelSettings(now),
    listCredentials(now),
  ]);
  const item = (key: ItemKey | undefined) => (key === undefined ? undefined : items[present.indexOf(key)]);
  const endUser = item(keys.endUser);
  return {
    endUser: endUser && toEndUser(endUser),
    settings: model === undefined ? undefined : settings.get(model),
    credentials,
    routeCosts: routeCostsIn(settings),
    pausedSeconds: pauseSecondsLeft(item(keys.pause), now),
    idempotencyRecord: toIdempotencyRecord(item(keys.idempotencyRecord), now),
  };
};
