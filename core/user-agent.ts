import { requiredEnv } from './environment.ts';

/**
 * Who calls: `generation-service/<version>`, with a URL where the operator sets one. Every call to a server of somebody else
 * carries it, because some refuse calls without a name. Throws when the environment lacks it.
 */
export const userAgent = (): string => requiredEnv('USER_AGENT');
