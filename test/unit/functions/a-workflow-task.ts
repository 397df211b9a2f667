import { clearCaches } from '@aws-lambda-powertools/parameters';
import { beforeEach } from '@jest/globals';
import { accountKey, endUserKey, requestKey } from '../../../core/table/keys.ts';
import { NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  aStoredOutput,
  EMAIL,
  putRequest,
  REQUEST_ID,
} from '../builders/entities.ts';
import { memory } from '../fakes/fresh-table.ts';

beforeEach(() => {
  clearCaches();
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser());
  putRequest(
    memory,
    anImageRequest({
      status: 'processing',
      createdAt: new Date().toISOString(),
      outputs: [aStoredOutput(0)],
    }),
  );
});
/** The request as the table has it. */
export const request = () => memory.get(requestKey(REQUEST_ID));
/** The input of a task of the request's execution. */
export const input = {
  requestId: REQUEST_ID,
  taskToken: 'token-1',
  enteredAt: NOW.toISOString(),
  retries: 0,
  knownSteps: ['stop'],
};
