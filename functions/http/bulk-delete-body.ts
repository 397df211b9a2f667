import * as z from 'zod/mini';
import { shortList } from '../../core/fields.ts';

/** Most ids in one call. */
export const MAX_IDS = 200;

/**
 * Most characters of one id, well above a request id's: the answer names ids that are not found, and stays below 64 KB also when each
 * character is escaped.
 */
const MAX_ID_LENGTH = 50;
const TOO_LONG = `must be at most ${MAX_ID_LENGTH} characters`;

/** The body of `POST /v1/generations/bulk-delete`. */
export const BULK_DELETE_BODY = {
  requestIds: shortList(
    z.string({ error: 'must be a string' }).check(z.maxLength(MAX_ID_LENGTH, { error: TOO_LONG })),
    MAX_IDS,
    `must hold at most ${MAX_IDS} ids`,
    ({ input }) => (input === undefined ? 'is required' : 'must be an array of request ids'),
  ),
};
