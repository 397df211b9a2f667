import { removeObjects } from '../../core/files/bucket.ts';
import { storeUpload } from '../../core/uploads/store-upload.ts';
import type { ImageEndpoint } from './make-images.ts';
import { readImageEdit } from './read-edits.ts';

/** The endpoint that takes files. */
export const EDIT_OPENAI_IMAGE: ImageEndpoint = {
  name: 'edit-openai-image',
  read: readImageEdit,
  files: { store: storeUpload, remove: removeObjects },
};
