import * as z from 'zod/mini';
import { shortList } from '../../core/fields.ts';

/** Most ids in one call. */
export const MAX_IDS = 200;

/** The body of `POST /v1/generations/bulk-delete`. */
export const BULK_DELETE_BODY = {
  requestIds: shortList(
    z.string({ error: 'must be a string' }),
    MAX_IDS,
    `must hold at most ${MAX_IDS} ids`,
    ({ input }) => (input === undefined ? 'is required' : 'must be an array of request ids'),
  ),
};
