import * as z from 'zod/mini';

/** The query of the reads of one request. */
export const RECORD_QUERY = { include: z.optional(z.literal('input', { error: 'must be input' })) };
