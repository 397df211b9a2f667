import * as z from 'zod/mini';
import { count, described, named } from '../answers.ts';

const removedObjects = count('Files removed. Those of an expired request are gone already and do not count.');

/** The response of `DELETE /v1/generations/{requestId}`. */
export const DeletedRequestAnswer = named(
  'DeletedRequest',
  'The outcome of a deletion.',
  z.object({ requestId: z.string(), deleted: z.literal(true), removedObjects }),
);
export type DeletedRequestAnswer = z.infer<typeof DeletedRequestAnswer>;

/** The response of `POST /v1/generations/bulk-delete`. */
export const BulkDeletionAnswer = named(
  'BulkDeletion',
  'The outcome of a bulk deletion. What is in neither list is deleted.',
  z.object({
    requested: count('Distinct ids given.'),
    deleted: count('Requests that this call removed.'),
    removedObjects,
    conflicts: described(
      z.array(z.string()),
      'Ids that are unfinished, or could not be deleted in the time of the call: repeat it later.',
    ),
    notFound: described(z.array(z.string()), 'Ids that are not yours or already gone.'),
  }),
);
export type BulkDeletionAnswer = z.infer<typeof BulkDeletionAnswer>;
