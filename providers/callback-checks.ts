import { providerAddress } from '../core/provider-calls/provider-urls.ts';
import type { CallbackCheck, SentCallback } from '../core/provider-calls/providers.ts';
import type { ProviderId } from '../core/provider-names.ts';
import { checkFalCallback } from './fal/webhooks.ts';

type CheckCallback = (
  sent: SentCallback,
  baseUrl: string,
  now: Date,
  signal: AbortSignal,
) => Promise<CallbackCheck>;

/** The providers that sign their callbacks. */
const CALLBACK_CHECKS = new Map<string, CheckCallback>([['fal', checkFalCallback]]);

/** Providers wait 5 s or more for the answer to a callback. */
const CHECK_TIMEOUT_MS = 3_000;

/** Checks the signature of a callback whose token is right. One of a provider that signs none has none to check. */
export const checkCallback = async (
  provider: string,
  sent: SentCallback,
  now: Date,
): Promise<CallbackCheck> => {
  const check = CALLBACK_CHECKS.get(provider);
  if (!check) return 'genuine';
  const baseUrl = providerAddress(provider as ProviderId);
  return check(sent, baseUrl, now, AbortSignal.timeout(CHECK_TIMEOUT_MS));
};
