import type { TaskListing } from '../core/provider-calls/providers.ts';
import { saysLater } from './failures.ts';
import type { HttpAnswer } from './http.ts';

/**
 * The meaning of an answer that is no list. A refusal, or an answer of another form, says that the provider lists nothing here.
 * Raises no alarm: tasks are queried one by one instead, and a refused key shows in the queries.
 */
export const untoldList = (answer: HttpAnswer): TaskListing => {
  if (answer.kind !== 'answered') return { kind: 'busy' };
  const { status, retryAfterSeconds } = answer;
  if (saysLater(status))
    return { kind: 'busy', ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  return { kind: 'refused' };
};
