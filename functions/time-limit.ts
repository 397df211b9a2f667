import type middy from '@middy/core';
import { logger } from '../core/observability.ts';

/**
 * Ends a function `marginMs` before its time limit, by an error log and then by what `atEnd` returns or throws.
 * Lambda would kill it without either, and middy's own error has a name that no state machine retries.
 */
export const endsEarly = <Result>(marginMs: number, atEnd: () => Result): middy.PluginObject => ({
  timeoutEarlyInMillis: marginMs,
  timeoutEarlyResponse: () => {
    logger.error('the function ran out of time');
    return atEnd();
  },
});
