import { StackContext } from '../../../lib/context.ts';

/** The pauses between webhook attempts where an operator sets none, as a function's variable has them. */
export const RETRY_SECONDS = StackContext.shape.webhookRetrySeconds.parse(undefined);

/** The same pauses in seconds, in their order. */
export const RETRY_SCHEDULE: readonly number[] = RETRY_SECONDS.split(',').map(Number);
