import { beforeEach, jest } from '@jest/globals';
import type { OperatorChange } from '../../../../core/ledger/change-balance.ts';
import { accountKey, ledgerPartition } from '../../../../core/table/keys.ts';
import { ACCOUNT_ID, anAccount } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

jest.spyOn(Math, 'random').mockReturnValue(0);
beforeEach(() => {
  memory.put(accountKey(ACCOUNT_ID), anAccount());
});

/** The stored account. */
export const account = () => memory.get(accountKey(ACCOUNT_ID));
/** The ledger entries of the account, in their order. */
export const entries = () => memory.partition(ledgerPartition(ACCOUNT_ID));
/** A top-up by an operator. */
export const aTopUp = (amountThousandths: number): OperatorChange => ({
  amountThousandths,
  reason: 'topup',
  reference: 'invoice 7',
});
