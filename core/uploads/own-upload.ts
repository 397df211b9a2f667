import type { SignUrl } from '../files/signed-urls.ts';
import { newUploadId } from '../ids.ts';
import { uploadObjectKey } from '../object-keys.ts';
import { addSeconds, toInstant } from '../time.ts';
import { UPLOAD_TYPES, type UploadType } from './upload-rules.ts';
import { ownerOf, UPLOAD_LIFE_SECONDS } from './upload-urls.ts';

/** A file that came with a creation, and the upload that it will be. */
export interface OwnUpload {
  contentType: UploadType;
  bytes: Uint8Array;
  objectKey: string;
  /** As good as that of `POST /v1/uploads`, once the file is stored. */
  url: string;
}

/** Names the upload that a file will be. Stores nothing. */
export const nameUpload = (
  file: Pick<OwnUpload, 'contentType' | 'bytes'>,
  accountId: string,
  sign: SignUrl,
  now: Date,
): OwnUpload => {
  const { extension } = UPLOAD_TYPES[file.contentType];
  const objectKey = uploadObjectKey(ownerOf(accountId), newUploadId(now), extension);
  return { ...file, objectKey, url: sign(objectKey, addSeconds(toInstant(now), UPLOAD_LIFE_SECONDS)) };
};
