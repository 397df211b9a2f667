import * as z from 'zod/mini';
import { IMAGE_BODY } from '../../core/creation/create-image-rules.ts';
import { VIDEO_BODY } from '../../core/creation/create-video-rules.ts';
import { BUDGET_BODY } from '../../core/end-users/budget-body.ts';
import { uploadBody } from '../../core/uploads/upload-rules.ts';
import { BULK_DELETE_BODY } from '../http/bulk-delete-body.ts';
import { bodySchema, type FieldNotes, schemaRef } from './json-schema.ts';
import {
  BUDGET_NOTES,
  BULK_DELETE_NOTES,
  IMAGE_NOTES,
  KIND_NOTE,
  UPLOAD_NOTES,
  VIDEO_NOTES,
} from './notes.ts';

/** The body of a quote: that of a creation, with its kind. */
const quoteBody = (kind: 'image' | 'video', body: Parameters<typeof bodySchema>[0], notes: FieldNotes) =>
  bodySchema(
    { kind: z.literal(kind), ...body },
    { ...KIND_NOTE, ...notes },
    'A creation that is only to be priced.',
  );

/** The bodies of requests. */
export const BODY_SCHEMAS = {
  NewGeneration: bodySchema(IMAGE_BODY, IMAGE_NOTES, 'A creation of images.'),
  NewVideo: bodySchema(VIDEO_BODY, VIDEO_NOTES, 'A creation of a video.'),
  QuotedGeneration: quoteBody('image', IMAGE_BODY, IMAGE_NOTES),
  QuotedVideo: quoteBody('video', VIDEO_BODY, VIDEO_NOTES),
  NewQuote: {
    description: 'The body of a creation, and its `kind`.',
    oneOf: [schemaRef('QuotedGeneration'), schemaRef('QuotedVideo')],
    discriminator: {
      propertyName: 'kind',
      mapping: {
        image: schemaRef('QuotedGeneration').$ref,
        video: schemaRef('QuotedVideo').$ref,
      },
    },
  },
  BulkDelete: bodySchema(BULK_DELETE_BODY, BULK_DELETE_NOTES, 'A bulk deletion.'),
  Budget: bodySchema(BUDGET_BODY, BUDGET_NOTES, 'What an end-user may spend.'),
  NewUpload: bodySchema(uploadBody(), UPLOAD_NOTES, 'A file to upload.'),
};
