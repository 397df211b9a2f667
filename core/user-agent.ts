import { requiredEnv } from './environment.ts';

/**
 * The user agent: `generation-service/<version>`, with a URL if the operator sets one. Every call to an
 * outside server carries it, because some refuse calls without one. Throws when the environment lacks it.
 */
export const userAgent = (): string => requiredEnv('USER_AGENT');
