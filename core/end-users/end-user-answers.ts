import * as z from 'zod/mini';
import { count, described, instant, named, xTokens } from '../answers.ts';

const email = described(z.string(), 'Normalized: it identifies the end-user.');
const blockedAt = described(z.nullable(instant('')), 'Since when; `null` when not blocked.');

/** An end-user as the API shows it. */
export const EndUserAnswer = named(
  'EndUser',
  'One of your own users.',
  z.object({
    email,
    createdAt: instant('When their first request was accepted.'),
    lastActiveAt: instant('When their last request was accepted.'),
    totalRequests: count('Requests accepted.'),
    totalXTokensSpent: xTokens('Spent in xTokens, less refunds.'),
    blockedAt,
  }),
);
export type EndUserAnswer = z.infer<typeof EndUserAnswer>;

/** The response of blocking and unblocking. */
export const EndUserBlock = named(
  'EndUserBlock',
  'Whether an end-user is blocked.',
  z.object({ email, blockedAt }),
);
export type EndUserBlock = z.infer<typeof EndUserBlock>;

const limit = (of: string) =>
  described(z.nullable(z.number().check(z.gte(0))), `The most to spend in a ${of}; \`null\`: any amount.`);

const spent = (period: string) => described(z.number(), `Spent in xTokens in this ${period}.`);

/** The response of reading and setting a budget. */
export const EndUserBudget = named(
  'EndUserBudget',
  'Limits on the spending of an end-user, and the spending less refunds. A refund counts on the day of its debit.',
  z.object({
    email,
    perDay: limit('UTC day'),
    perMonth: limit('calendar month, in UTC'),
    spentToday: spent('UTC day'),
    spentThisMonth: spent('calendar month'),
  }),
);
export type EndUserBudget = z.infer<typeof EndUserBudget>;

/** The response of `DELETE /v1/end-users/{email}`. */
export const DeletedEndUserAnswer = named(
  'DeletedEndUser',
  'What this call removed. Calls before it that ended with 503 are not counted.',
  z.object({
    email,
    deleted: z.literal(true),
    removedRequests: count('Requests removed.'),
    removedObjects: count('Files removed. Those of expired requests are gone already and do not count.'),
  }),
);
export type DeletedEndUserAnswer = z.infer<typeof DeletedEndUserAnswer>;
