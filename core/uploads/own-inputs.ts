import { createHash } from 'node:crypto';
import type { Medium } from '../errors.ts';
import { type FileHandle, isOwnAddress, parseHandle } from '../files/file-handles.ts';
import { creationTimeOf } from '../ids.ts';
import type { InputFile } from '../requests/input-files.ts';
import { isRemoved, type StoredRequest, statusAt } from '../requests/request-rules.ts';
import { addSeconds, type Instant, SECONDS_PER_DAY, toInstant } from '../time.ts';
import { kindOfExtension } from './upload-rules.ts';

/** Time for which an upload can be used. The bucket's lifecycle removes the file within a day after. */
export const UPLOAD_LIFE_SECONDS = 2 * SECONDS_PER_DAY;

/** Stands for an account in the keys of its uploads. */
export const ownerOf = (accountId: string): string =>
  createHash('sha256').update(accountId).digest('base64url').slice(0, 22);

/** Whose creation names a file, the requests whose outputs it names as far as they exist, and when. */
export interface InputContext {
  accountId: string;
  requests: readonly StoredRequest[];
  now: Date;
}

/** Ids of the requests whose outputs are named as inputs. */
export const requestsNamed = (inputs: readonly InputFile[]): string[] => [
  ...new Set(
    inputs.flatMap(({ url }) => {
      const handle = parseHandle(url);
      return handle?.of === 'output' ? [handle.requestId] : [];
    }),
  ),
];

/**
 * Why an account cannot use a file of ours as an input. Undefined for a URL of another host, and for the account's own, unexpired
 * file of the field's kind. Whether the file exists, and has the content that its name promises, is found by measuring.
 */
export const ownInputProblem = ({ url, medium }: InputFile, context: InputContext): string | undefined => {
  const handle = parseHandle(url);
  if (!handle) return isOwnAddress(url) ? 'is not an upload or an output of yours' : undefined;
  const problem = handle.of === 'upload' ? uploadProblem(handle, context) : outputProblem(handle, context);
  return problem ?? kindProblem(handle.extension, medium);
};

const uploadProblem = (
  handle: FileHandle & { of: 'upload' },
  { accountId, now }: InputContext,
): string | undefined => {
  if (handle.owner !== ownerOf(accountId)) return 'is an upload of another account';
  return expiryOf(handle) <= toInstant(now) ? 'is an upload that has expired' : undefined;
};

const outputProblem = (
  { requestId, objectKey }: FileHandle & { of: 'output' },
  { accountId, requests, now }: InputContext,
): string | undefined => {
  const request = requests.find((one) => one.requestId === requestId);
  const isOwn = request?.accountId === accountId && !isRemoved(request, now);
  if (!isOwn || !request.outputs?.some((output) => output.objectKey === objectKey))
    return 'is not an output of yours';
  return statusAt(request, now) === 'succeeded' ? undefined : 'is an output that has expired';
};

const NAMES = { image: 'an image', video: 'a video', audio: 'an audio' } as const;

const kindProblem = (extension: string, wanted: Medium): string | undefined => {
  const kind = kindOfExtension(extension);
  if (kind === wanted) return undefined;
  return kind ? `is ${NAMES[kind]}, not ${NAMES[wanted]}` : `is not ${NAMES[wanted]}`;
};

const expiryOf = (handle: FileHandle & { of: 'upload' }): Instant =>
  addSeconds(creationTimeOf(handle.uploadId), UPLOAD_LIFE_SECONDS);

/** The earliest removal of an own file among the inputs of a creation; undefined without an own file. */
export const inputsExpiry = (
  inputs: readonly InputFile[],
  requests: readonly StoredRequest[],
): Instant | undefined =>
  inputs
    .flatMap(({ url }) => {
      const handle = parseHandle(url);
      if (!handle) return [];
      if (handle.of === 'upload') return [expiryOf(handle)];
      return requests.find(({ requestId }) => requestId === handle.requestId)?.expiresAt ?? [];
    })
    .sort()[0];
