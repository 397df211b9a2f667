import * as z from 'zod/mini';
import { described, instant, named } from '../answers.ts';

/** The response of `POST /v1/uploads`. */
export const UploadAnswer = named(
  'Upload',
  'Where to send a file, and its URL afterwards.',
  z.object({
    uploadId: z.string(),
    url: described(
      z.string(),
      'The URL that names the file in your own creations, as a reference, frame or clip. It cannot be fetched.',
    ),
    upload: described(
      z.object({
        url: described(z.string(), 'Where to send the form, by POST as `multipart/form-data`.'),
        fields: described(
          z.record(z.string(), z.string()),
          'The fields of the form. The file follows them as `file`, last.',
        ),
      }),
      'The form that takes the file, within 15 minutes.',
    ),
    expiresAt: instant('When the file can no longer be used, two days from now.'),
  }),
);
export type UploadAnswer = z.infer<typeof UploadAnswer>;
