import { beforeEach } from '@jest/globals';
import type { Failure } from '../../../../core/errors.ts';
import type { ImageRequest, StoredOutput } from '../../../../core/requests/request-rules.ts';
import {
  accountKey,
  dueListing,
  endUserKey,
  ledgerPartition,
  requestKey,
} from '../../../../core/table/keys.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  aStoredOutput,
  EMAIL,
  putRequest,
  REQUEST_ID,
} from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

/** 30 s after the creation. */
export const clock = new StoppedClock(atSeconds(30));
export const FAILURE: Failure = { code: 'provider_error', message: 'It broke.' };
export const webhookUrl = 'https://hooks.example.com/';

/** Puts a request that is under way, its account and its end-user into an empty table. */
export const given = (request: Partial<ImageRequest> = {}): void => {
  memory.reset();
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser({ activeRequests: 1, spentThousandths: 60_000 }));
  putRequest(memory, anImageRequest({ status: 'processing', ...request }));
};
beforeEach(() => given());

export const request = () => memory.get(requestKey(REQUEST_ID));
export const account = () => memory.get(accountKey(ACCOUNT_ID));
export const endUser = () => memory.get(endUserKey(ACCOUNT_ID, EMAIL));
export const entries = () => memory.partition(ledgerPartition(ACCOUNT_ID));
/** Where a request is listed; undefined when it is in no list. */
export const dueKeyOf = (requestId = REQUEST_ID) => {
  const { GSI1PK, GSI1SK } = memory.get(requestKey(requestId)) ?? {};
  return GSI1PK === undefined ? undefined : { GSI1PK, GSI1SK };
};
/** Where the request is listed once `clock` has ended it, for what is left to do and for its expiry. */
export const CHECK = dueListing('CHECK', REQUEST_ID, atSeconds(90).toISOString());
export const EXPIRE = dueListing('EXPIRE', REQUEST_ID, atSeconds(30 + 82_800).toISOString());
/** The first outputs have a file, the others do not. */
export const outputs = (stored: number, failed: number): StoredOutput[] =>
  Array.from({ length: stored + failed }, (_, index) => (index < stored ? aStoredOutput(index) : { index }));
