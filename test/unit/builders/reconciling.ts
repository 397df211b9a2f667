import './environment.ts';
import { beforeEach, jest } from '@jest/globals';
import type { VideoRequest } from '../../../core/requests/request-rules.ts';
import {
  accountKey,
  dueListing,
  endUserKey,
  providerAttemptKey,
  providerWaitKey,
  requestKey,
} from '../../../core/table/keys.ts';
import { table } from '../../../core/table/table.ts';
import { MemoryBucket } from '../fakes/memory-bucket.ts';
import { MemoryExecutions } from '../fakes/memory-executions.ts';
import { MemoryTable } from '../fakes/memory-table.ts';
import { at, atSeconds } from './clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anAttempt,
  anEndUser,
  anImageRequest,
  aStoredVideo,
  aVideoRequest,
  EMAIL,
  putRequest,
  VIDEO_ID,
} from './entities.ts';
import { aRequestId } from './request-ids.ts';
import { accepted, WaitingRequest } from './waiting-request.ts';

export { at, clockAt } from './clocks.ts';

/** The set-up of the reconciler's tests. Importing it resets all of it before each test. */
export const memory = new MemoryTable(table);
export const executions = new MemoryExecutions();
export const bucket = new MemoryBucket();
/** A video request of the account. */
export const request = new WaitingRequest(memory);

jest.spyOn(Math, 'random').mockReturnValue(0);
beforeEach(() => {
  memory.reset();
  executions.reset();
  bucket.reset();
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser());
});

/** The fields of a succeeded video request with a delivered video. */
export const ended: Partial<VideoRequest> = {
  status: 'succeeded',
  outputs: [aStoredVideo()],
  expiresAt: at(1000),
  costThousandths: 50_000,
  finishedAt: at(0),
};

/** Lists a request for a check of this second. */
export const dueAt = (seconds: number, requestId = VIDEO_ID) =>
  memory.patch(requestKey(requestId), dueListing('CHECK', requestId, at(seconds)));

/** Where a request is listed. */
export const dueKeyOf = (requestId: string) => {
  const { GSI1PK, GSI1SK } = memory.get(requestKey(requestId)) ?? {};
  return { GSI1PK, GSI1SK };
};
export const listed = (list: 'START' | 'CHECK', seconds: number, requestId = VIDEO_ID) =>
  dueListing(list, requestId, at(seconds));

/** Puts a queued request created at this second; returns its id. */
export const given = (seconds: number): string => {
  const createdAt = atSeconds(seconds);
  const requestId = aRequestId(createdAt);
  putRequest(memory, anImageRequest({ requestId, createdAt: createdAt.toISOString() }));
  return requestId;
};

/** Puts a video whose execution waits for a task of this name, due at this second; returns its id. */
export const givenWaiting = (seconds: number): string => {
  const createdAt = atSeconds(-1000);
  const requestId = aRequestId(createdAt, 'vid');
  putRequest(memory, aVideoRequest({ requestId, createdAt: at(-1000), status: 'processing' }));
  memory.put(providerAttemptKey(requestId, 0, 0), anAttempt({ requestId, ...accepted(requestId) }));
  memory.put(providerWaitKey(requestId), { requestId, taskToken: requestId, waitingSince: at(-999) });
  executions.put('generation', requestId, 'RUNNING');
  executions.wait(requestId);
  dueAt(seconds, requestId);
  return requestId;
};

/** The names of the commands that Step Functions was given. */
export const commands = () => executions.client.calls().map(({ args }) => args[0].constructor.name);
