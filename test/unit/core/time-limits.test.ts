import { beforeEach, expect, jest, test } from '@jest/globals';
import { dispatchRequest } from '../../../core/dispatch/dispatch-request.ts';
import { cancelTasks } from '../../../core/ending/close-request.ts';
import { listAttempts } from '../../../core/provider-calls/provider-attempts.ts';
import type { Provider } from '../../../core/provider-calls/providers.ts';
import { endOverdue } from '../../../core/reconciler/overdue.ts';
import { accountKey, dueListing, endUserKey, requestKey } from '../../../core/table/keys.ts';
import { catchUpOnRead } from '../../../core/waiting/catch-up.ts';
import { queryProvider } from '../../../core/waiting/query-provider.ts';
import { at, clockAt } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  aVideoRequest,
  EMAIL,
  putRequest,
  REQUEST_ID,
  VIDEO_ID,
} from '../builders/entities.ts';
import { aProvider, leadingTo } from '../builders/providers.ts';
import { checkDueItems } from '../builders/runs.ts';
import { answering, WaitingRequest } from '../builders/waiting-request.ts';
import { executions } from '../fakes/fresh-executions.ts';
import { secrets } from '../fakes/fresh-secrets.ts';
import { memory } from '../fakes/fresh-table.ts';

/** The limits of the calls that were begun, in milliseconds. */
const limits: number[] = [];
beforeEach(() => {
  limits.length = 0;
  secrets.set('arn:callback-secret', 'secret');
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
    limits.push(milliseconds);
    return new AbortController().signal;
  });
});

const waiting = (): Provider => answering({ kind: 'waiting' });
const givenTask = (more: object = {}): void => {
  new WaitingRequest(memory).given();
  memory.patch(requestKey(VIDEO_ID), more);
};
const video = (more: object = {}) => aVideoRequest({ status: 'processing', ...more });

test.each<[string, number, () => Promise<unknown>]>([
  [
    'a call for a task',
    60_000,
    () => {
      putRequest(memory, anImageRequest());
      const provider = aProvider('asynchronous', 1, async () => ({ kind: 'accepted', taskId: 'task-1' }));
      return dispatchRequest(REQUEST_ID, leadingTo(provider), clockAt(0));
    },
  ],
  [
    'a call for a result: the time until the deadline',
    600_000,
    () => {
      putRequest(memory, anImageRequest());
      return dispatchRequest(REQUEST_ID, leadingTo(aProvider('synchronous', 1)), clockAt(0));
    },
  ],
  [
    'a query of a step',
    15_000,
    () => {
      givenTask();
      return queryProvider(VIDEO_ID, leadingTo(waiting()), clockAt(20));
    },
  ],
  [
    'a query for a reader',
    4_000,
    () => {
      givenTask();
      return catchUpOnRead(video(), undefined, leadingTo(waiting()), clockAt(20));
    },
  ],
  [
    'a query of the control loop',
    10_000,
    () => {
      givenTask(dueListing('CHECK', VIDEO_ID, at(0)));
      executions.put('generation', VIDEO_ID, 'RUNNING');
      return checkDueItems(20, leadingTo(waiting()));
    },
  ],
  [
    'the last query of a request that is overdue',
    10_000,
    async () => {
      givenTask();
      memory.put(accountKey(ACCOUNT_ID), anAccount());
      memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser({ activeRequests: 1 }));
      await endOverdue(video(), await listAttempts(VIDEO_ID), leadingTo(waiting()), clockAt(9_000));
    },
  ],
  [
    'a cancellation',
    5_000,
    () => {
      const ended = { status: 'failed', finishedAt: at(0) };
      givenTask(ended);
      return cancelTasks(video(ended), leadingTo(waiting()), clockAt(90));
    },
  ],
])('%s has %i ms', async (_, milliseconds, call) => {
  await call();

  expect(limits).toEqual([milliseconds]);
});
