import * as z from 'zod/mini';
import { described, named } from './answers.ts';
import { Failure, STORAGE_FAILED } from './errors.ts';

const code = named('ErrorCode', 'Branch on this. The status follows from it.', Failure.shape.code);

/** The error of a record that failed. */
export const FailureAnswer = named(
  'Failure',
  'Why a request failed. Everything it was debited is refunded.',
  z.pick(Failure, { code: true, message: true }),
);

/** The error of an output whose file could not be stored. */
export const StorageFailed = named(
  'StorageFailed',
  'Stands in place of `url` when the output could not be stored. It is refunded.',
  z.object({ code: z.literal(STORAGE_FAILED) }),
);

/** The body of every error. The message is shown as it is. */
export const ErrorBody = z.object({
  error: z.object({
    code,
    message: described(z.string(), 'A sentence for people. It may change.'),
    fields: z.optional(
      described(
        z.record(z.string(), z.string()),
        'What is wrong, by the path of the field, such as `references[2]`. At most 20.',
      ),
    ),
    type: z.optional(described(z.string(), 'Of an error that the gateway makes: for OpenAI’s clients.')),
    param: z.optional(described(z.null(), 'Beside `type`.')),
  }),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
