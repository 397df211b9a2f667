import { beforeEach, expect, jest } from '@jest/globals';
import { accountKey, endUserKey, ledgerPartition } from '../../../../core/table/keys.ts';
import { ACCOUNT_ID, anAccount, EMAIL } from '../../builders/entities.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';

// Transactions wait for no time before they try again.
jest.spyOn(Math, 'random').mockReturnValue(0);
beforeEach(() => memory.put(accountKey(ACCOUNT_ID), anAccount()));

export { executions, memory };
/** What a creation leaves of its account, its end-user and their ledger. */
export const account = () => memory.get(accountKey(ACCOUNT_ID));
export const endUser = () => memory.get(endUserKey(ACCOUNT_ID, EMAIL));
export const entries = () => memory.partition(ledgerPartition(ACCOUNT_ID));
/** Expects that nothing was debited and no execution started. */
export const nothingWritten = () => {
  expect(memory.transactions).toEqual([]);
  expect(executions.started).toEqual([]);
};
