import type { TaskListing } from '../core/provider-calls/providers.ts';
import { saysLater } from './failures.ts';
import type { HttpAnswer } from './http.ts';

/**
 * The meaning of an answer that is no list. A refusal, or an answer of another form, says that the provider lists nothing here. It counts
 * for no alarm: tasks are then queried one by one, and those queries tell whether the key is refused.
 */
export const untoldList = (answer: HttpAnswer): TaskListing => {
  if (answer.kind !== 'answered') return { kind: 'busy' };
  const { status, retryAfterSeconds } = answer;
  if (saysLater(status))
    return { kind: 'busy', ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  return { kind: 'refused' };
};
