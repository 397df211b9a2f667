import type { BalanceAnswer } from '../../core/ledger/balance-answers.ts';
import { toXTokens } from '../../core/money.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { BALANCE_QUERY } from '../http/queries.ts';

/** GET /v1/balance. 200 with the balance and when it last changed; with `include=account` also whose it is. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'balance:read', request.now);
  const { include } = request.query(BALANCE_QUERY);
  const answer = {
    xTokens: toXTokens(account.balanceThousandths),
    updatedAt: account.balanceUpdatedAt,
    ...(include && { account: { accountId: account.accountId, name: account.name } }),
  };
  return json(200, answer satisfies BalanceAnswer);
});
