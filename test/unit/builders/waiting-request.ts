import type { AttemptOutcome, ProviderAttempt } from '../../../core/provider-calls/provider-attempts.ts';
import type { ProviderWait, StateEntry } from '../../../core/provider-calls/provider-waits.ts';
import type { ProviderAnswer } from '../../../core/provider-calls/providers.ts';
import type { VideoRequest } from '../../../core/requests/request-rules.ts';
import { providerAttemptKey, providerWaitKey, requestKey } from '../../../core/table/keys.ts';
import type { Item } from '../fakes/expressions.ts';
import type { MemoryTable } from '../fakes/memory-table.ts';
import { NOW } from './clocks.ts';
import { anAttempt, aVideoRequest, putRequest, VIDEO_ID } from './entities.ts';
import { aProvider } from './providers.ts';

/** The attempt of a call whose task the provider accepted. */
export const accepted = (taskId = 'task-1'): { taskId: string; outcome: AttemptOutcome } => ({
  taskId,
  outcome: { kind: 'accepted', taskId },
});

/** When a waiting state was entered. */
export const ENTERED: StateEntry = { enteredAt: NOW.toISOString(), retries: 0 };

/** What an execution is woken with, in the list of `MemoryExecutions`. */
export const wokenBy = (taskToken: string, result: object = { next: 'store' }) => [
  { taskToken, output: { result } },
];

/** An unfinished video request in the table: its record, provider calls and wait. */
export class WaitingRequest {
  private readonly memory: MemoryTable;

  constructor(memory: MemoryTable) {
    this.memory = memory;
  }

  /** Puts it into the table with one accepted task, and an empty wait. */
  given(request: Partial<VideoRequest> = {}): this {
    putRequest(this.memory, aVideoRequest({ status: 'processing', ...request }));
    return this.withAttempt(accepted()).waiting({});
  }

  withAttempt(attempt: Partial<ProviderAttempt>): this {
    const whole = anAttempt({ requestId: VIDEO_ID, ...attempt });
    this.memory.put(providerAttemptKey(VIDEO_ID, whole.call, whole.attempt), whole);
    return this;
  }

  waiting(wait: Partial<ProviderWait>): this {
    this.memory.put(providerWaitKey(VIDEO_ID), { requestId: VIDEO_ID, ...wait });
    return this;
  }

  record(): Item | undefined {
    return this.memory.get(requestKey(VIDEO_ID));
  }

  attempt(call = 0): Item | undefined {
    return this.memory.get(providerAttemptKey(VIDEO_ID, call, 0));
  }

  /** Its wait; undefined while nothing is recorded there. */
  wait(): Item | undefined {
    const { PK, SK, requestId, ...recorded } = this.memory.get(providerWaitKey(VIDEO_ID)) ?? {};
    return Object.keys(recorded).length > 0 ? { PK, SK, requestId, ...recorded } : undefined;
  }
}

/** A provider of tasks that gives this answer to every query. */
export const answering = (answer: ProviderAnswer | (() => Promise<ProviderAnswer>)) =>
  aProvider('asynchronous', 1, undefined, typeof answer === 'function' ? answer : async () => answer);
