import type { Account } from '../accounts/accounts.ts';
import { inParallel } from '../concurrency/in-parallel.ts';
import { newRequestId } from '../ids.ts';
import { inputFilesOf } from '../requests/input-files.ts';
import { leavesOutcomeOpen } from '../table/outcomes.ts';
import { type OwnUpload, typedUpload } from '../uploads/own-upload.ts';
import {
  dropEntry,
  type Held,
  heldBy,
  idempotencyRecordOf,
  type LongCall,
  openEntry,
  takeKeyed,
} from './collection.ts';
import { finishCreation, type PreparedCreation, prepareCreation } from './create-request.ts';
import { loadCreationFacts } from './judge-creation.ts';
import type { Submission } from './submission.ts';
import type { RepeatedCreation } from './write-creation.ts';

/** Files of a call that are stored at once. */
const AT_ONCE = 5;

type TypedUpload = ReturnType<typeof typedUpload>;

/** The storage of a call's files. A removal that fails in part is left to the bucket's lifecycle. */
export interface FileStore {
  store: (upload: TypedUpload) => Promise<void>;
  remove: (objectKeys: string[]) => Promise<unknown>;
}

/**
 * Creates the request of a call that waits for its images: judges the submission, measures and stores the call's files, and
 * writes the request. Without a written request, the files are removed again; the bucket's lifecycle removes files that a dead
 * process leaves. Undefined when a retry took the call over before the write. Throws the errors of `createRequest`.
 */
export const createForCall = async (
  account: Account,
  submission: Submission,
  call: LongCall,
  { uploads, store, remove }: { uploads: OwnUpload[] } & Partial<FileStore>,
): Promise<Held | undefined> => {
  const { now, ok } = submission;
  const requestId = newRequestId(call.kind, now);
  const held = heldBy(call, requestId);
  let stored: TypedUpload[] = [];
  const discard = () => remove?.(stored.map(({ objectKey }) => objectKey));
  const isOpened = ok && !call.isKeyed;
  if (isOpened) await openEntry(held, now);
  try {
    const facts = await loadCreationFacts(account.accountId, submission);
    const carried = new Map(uploads.map(({ objectKey, bytes }) => [objectKey, bytes]));
    const prepared = await prepareCreation(account, submission, facts, { requestId, carried });
    stored = typedUploads(uploads, prepared);
    if (store) await inParallel(stored, AT_ONCE, store);
    const { request, replayed } = await finishCreation(recordedFor(call, prepared));
    if (!replayed) return held;
    await discard();
    return await takeKeyed(call, request.requestId, now);
  } catch (error) {
    const kept = leavesOutcomeOpen(error) ? 'written' : 'dropped';
    const left = isOpened ? await dropEntry(held) : kept;
    // Under an `Idempotency-Key` the outcome is unknown; without a key, the entry tells whether the request is written.
    if (left === 'written' && isOpened) return held;
    if (left !== 'written') await discard();
    if (left === 'taken') return undefined;
    throw error;
  }
};

/** The files of a creation with their measured types; none for a repeated creation. */
const typedUploads = (
  uploads: readonly OwnUpload[],
  creation: PreparedCreation | RepeatedCreation,
): TypedUpload[] => {
  if (creation.kind === 'repeated') return [];
  const handles = inputFilesOf(creation.judged.request).map(({ url }) => url);
  return uploads.map((upload) => typedUpload(upload, handles));
};

/** A creation whose idempotency record is that of the call. */
const recordedFor = (
  call: LongCall,
  creation: PreparedCreation | RepeatedCreation,
): PreparedCreation | RepeatedCreation => {
  if (creation.kind === 'repeated') return creation;
  const { judged } = creation;
  const { request, idempotency } = judged;
  const record = idempotencyRecordOf(call, request.requestId, idempotency?.fingerprint);
  return { ...creation, judged: { ...judged, idempotency: record } };
};
