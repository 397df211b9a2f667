import type { Account } from '../accounts/accounts.ts';
import { accountLimit, tooManyAtOnce, withSlots } from '../concurrency/in-flight.ts';
import { workAllowance } from '../concurrency/work-allowance.ts';
import { ServiceError } from '../errors.ts';
import { systemClock } from '../time.ts';

/** Most prompts of one account that are judged at once. The filter is one host, which has its own limit. */
export const FILTER_SLOTS = 20;
/** Longer than all attempts of a call to the filter (`CALL_LIMITS`). */
const LEASE_SECONDS = 25;
/** The filter answers well within a second. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Refuses a prompt that must not be sent to a provider: throws `ServiceError` with `content_policy`. A failure of the filter is
 * an ordinary error: a caller never sees a refusal without a decision.
 *
 * Amazon Bedrock Guardrails decides when a guardrail is configured. Otherwise every prompt passes, and a
 * provider's own refusal appears in the record.
 *
 * Returns whether the prompt was judged. Throws `ServiceError` with `rate_limited` when too many prompts of the account are being
 * judged, or too many prompts of refused creations were judged in this hour.
 */
export const screenPrompt = async (
  { accountId, earnedWork }: Pick<Account, 'accountId' | 'earnedWork'>,
  prompt: string,
): Promise<boolean> => {
  if (!process.env.GUARDRAIL_ID) return false;
  const limit = accountLimit('filter', accountId, {
    slots: FILTER_SLOTS,
    leaseSeconds: LEASE_SECONDS,
    // Without a decision there is no charge for it.
    allowance: workAllowance(earnedWork, 'filter', () => true),
  });
  const full = () => tooManyAtOnce('Too many prompts are being judged at once.', RETRY_AFTER_SECONDS);
  if (await withSlots([limit], systemClock, full, () => isBlocked(prompt)))
    throw new ServiceError('content_policy', 'The content filter refused the prompt.');
  return true;
};

const isBlocked = async (prompt: string): Promise<boolean> => {
  // The client is large, and needed only with a guardrail.
  const { applyGuardrail } = await import('./guardrail.ts');
  const { action, assessments = [] } = await applyGuardrail(prompt);
  // A guardrail also intervenes to mask personal data, which does not refuse the content.
  return action === 'GUARDRAIL_INTERVENED' && (assessments.length === 0 || hasBlock(assessments));
};

/** Whether any assessment says BLOCKED. Walks all of them: policies differ in shape, and AWS keeps adding new ones. */
const hasBlock = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.some(hasBlock);
  if (value === null || typeof value !== 'object') return false;
  return Object.entries(value).some(([name, nested]) =>
    name === 'action' ? nested === 'BLOCKED' : hasBlock(nested),
  );
};
