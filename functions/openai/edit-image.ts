import { storeUpload } from '../../core/uploads/store-upload.ts';
import { readImageForm } from './forms.ts';
import type { ImageEndpoint } from './make-images.ts';

/** The endpoint that takes files. */
export const EDIT_OPENAI_IMAGE: ImageEndpoint = {
  name: 'edit-openai-image',
  read: readImageForm,
  store: storeUpload,
};
