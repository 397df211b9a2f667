import { beforeEach, jest } from '@jest/globals';
import { getAccount } from '../../../../core/accounts/accounts.ts';
import { deleteRequest } from '../../../../core/deletion/delete-requests.ts';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { failedBeforeStoring } from '../../../../core/ending/failed.ts';
import { settled } from '../../../../core/ending/settled.ts';
import { changeBalance } from '../../../../core/ledger/change-balance.ts';
import { balanceChangeWrites } from '../../../../core/ledger/ledger.ts';
import { verifyLedger } from '../../../../core/ledger/verify-ledger.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { insertRequestWrite } from '../../../../core/requests/requests.ts';
import { accountKey, requestKey } from '../../../../core/table/keys.ts';
import { transact } from '../../../../core/table/transactions.ts';
import { NOW, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  aStoredOutput,
  putEndUser,
} from '../../builders/entities.ts';
import { bucket } from '../../fakes/fresh-bucket.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';

jest.spyOn(Math, 'random').mockReturnValue(0);

/** Begins with an account without entries. */
export const given = (): void => {
  memory.reset();
  bucket.reset();
  executions.reset();
  memory.put(accountKey(ACCOUNT_ID), anAccount({ balanceThousandths: 0, ledgerEntries: 0 }));
  putEndUser(memory, anEndUser());
};
beforeEach(given);

/** The id of the request of this number. */
export const idOf = (number: number): string => `img_01JD4KXQ8M${String(number).padStart(16, '0')}`;
/** The time of what happens to requests. */
export const clock = new StoppedClock();

/** Fills the account's balance. */
export const topUp = (amountThousandths = 1_000_000) =>
  changeBalance(ACCOUNT_ID, { amountThousandths, reason: 'topup', reference: 'invoice' }, NOW);

/** Accepts a request for two images. */
export const create = async (number: number, overrides: Partial<ImageRequest> = {}): Promise<void> => {
  const request = anImageRequest({ requestId: idOf(number), images: 2, status: 'processing', ...overrides });
  const { debitThousandths, requestId: reference, retentionDays } = request;
  const amountThousandths = -debitThousandths;
  const change = { amountThousandths, reason: 'generation', reference, retentionDays } as const;
  await transact(async () => {
    const { entry, writes } = balanceChangeWrites(await getAccount(ACCOUNT_ID), change, NOW);
    return [...writes, insertRequestWrite({ ...request, debitEntryNumber: entry.number })];
  });
};
/** Ends a request of which so many images were stored. */
export const settle = async (number: number, delivered: number): Promise<void> => {
  const outputs = Array.from({ length: delivered }, (_, index) => aStoredOutput(index));
  memory.patch(requestKey(idOf(number)), { outputs });
  await endRequest(idOf(number), settled, { clock });
};
/** Ends a request of which nothing was produced. */
export const fail = (number: number) =>
  endRequest(idOf(number), failedBeforeStoring({ code: 'provider_error', message: 'It broke.' }), { clock });
/** The owner deletes a request. */
export const remove = (number: number) => deleteRequest(ACCOUNT_ID, idOf(number), NOW);

/** Verifies the account's ledger. */
export const verify = (now = NOW) => verifyLedger([{ accountId: ACCOUNT_ID }], new StoppedClock(now));
