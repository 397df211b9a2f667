import type { ProviderAttempt } from './provider-attempts.ts';
import type { Taken } from './providers.ts';

/**
 * Whether the provider took the call of an attempt: only a call that was surely not taken may be made elsewhere, and
 * only it cost nothing upstream. The one place that decides this.
 */
export const takenOf = ({ taskId, outcome }: Pick<ProviderAttempt, 'taskId' | 'outcome'>): Taken => {
  if (taskId !== undefined) return 'yes';
  switch (outcome?.kind) {
    case 'done':
    case 'accepted':
      return 'yes';
    case 'busy':
      return 'no';
    case 'failed':
      return outcome.taken ?? 'unknown';
    default:
      return 'unknown';
  }
};
