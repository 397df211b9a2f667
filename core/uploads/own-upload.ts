import { fileUrl } from '../files/file-handles.ts';
import { newUploadId } from '../ids.ts';
import { uploadObjectKey } from '../object-keys.ts';
import { ownerOf } from './own-inputs.ts';
import { UPLOAD_TYPES, type UploadType } from './upload-rules.ts';

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
  now: Date,
): OwnUpload => {
  const { extension } = UPLOAD_TYPES[file.contentType];
  const objectKey = uploadObjectKey(ownerOf(accountId), newUploadId(now), extension);
  return { ...file, objectKey, url: fileUrl(objectKey) };
};
