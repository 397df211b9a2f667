import { newUploadId } from '../ids.ts';
import { uploadObjectKey } from '../object-keys.ts';
import { ownerOf } from './own-inputs.ts';
import { contentTypeOfExtension, extensionOfType } from './upload-rules.ts';

/** A file that came with a creation and is stored as an upload, equal to an upload of `createUpload`. */
export interface OwnUpload {
  bytes: Uint8Array;
  /** The object key, also the file's handle. `typedHandle` sets the right extension once the file is measured. */
  objectKey: string;
}

/** Stands in a handle until its file is measured. */
const EXTENSION_BEFORE = 'png';

/** Names the upload that a file will be. Stores nothing. */
export const nameUpload = (bytes: Uint8Array, accountId: string, now: Date): OwnUpload => ({
  bytes,
  objectKey: uploadObjectKey(ownerOf(accountId), newUploadId(now), EXTENSION_BEFORE),
});

/** The handle of a file of this type, in place of the one before it was measured. */
export const typedHandle = (handle: string, contentType: string): string =>
  stemOf(handle) + (extensionOfType(contentType) ?? EXTENSION_BEFORE);

/** The upload under the handle that a request has for it since it was measured, with its type. */
export const typedUpload = (
  { bytes, objectKey }: OwnUpload,
  handles: readonly string[],
): OwnUpload & { contentType: string } => {
  const typed = handles.find((handle) => stemOf(handle) === stemOf(objectKey)) ?? objectKey;
  const extension = typed.slice(stemOf(typed).length);
  return {
    bytes,
    objectKey: typed,
    contentType: contentTypeOfExtension(extension) ?? 'application/octet-stream',
  };
};

/** A handle up to its extension. */
const stemOf = (handle: string): string => handle.slice(0, handle.lastIndexOf('.') + 1);
