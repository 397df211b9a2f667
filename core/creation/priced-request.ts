import type { Account } from '../accounts/accounts.ts';
import { newRequestId } from '../ids.ts';
import { inputFilesOf } from '../requests/input-files.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { inputsExpiry } from '../uploads/own-inputs.ts';
import { type CreationFacts, judgeCreation, routeFactsOf } from './judge-creation.ts';
import { newRequest } from './new-request.ts';
import type { Submission } from './submission.ts';

/** The request that a new submission asks for, with the price of its output, once `judgeCreation` has found nothing against it. Throws its errors. */
export const pricedRequest = (
  account: Account,
  submission: Submission,
  facts: CreationFacts,
  requestId?: string,
): StoredRequest => {
  const { creation, rate } = judgeCreation(account, submission, facts);
  const { routeCosts, requestsNamed = [] } = facts;
  const inputsExpireAt = inputsExpiry(inputFilesOf(creation), requestsNamed);
  const id = requestId ?? newRequestId(creation.model.type, submission.now);
  const own = { rate, routeCosts, inputsExpireAt, routes: routeFactsOf(creation.model.id, facts) };
  return newRequest({ requestId: id, accountId: account.accountId }, creation, own, submission.now);
};
