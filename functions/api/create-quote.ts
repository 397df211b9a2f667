import { loadCreationFacts } from '../../core/creation/judge-creation.ts';
import { quoteCreation } from '../../core/creation/quote-creation.ts';
import { quoteSubmission } from '../../core/creation/submission.ts';
import { QUOTES, routeText } from '../../core/routes.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { wrongFields } from '../http/api-request.ts';
import { authorizeKey, identifyCaller } from '../http/authorize.ts';
import { retirementHeaders } from '../http/retirement-headers.ts';

/** POST /v1/quotes. 200 with what a creation would cost; 400, 402, 403, 409, 422, 429, 503. */
export const handler = apiHandler(async (request) => {
  const { now } = request;
  const { account, apiKey } = await authorizeKey(identifyCaller(request), 'generations:write', now);
  const submission = quoteSubmission({
    ...{ route: routeText(QUOTES), body: request.readBody(), keyId: apiKey.keyId, now },
    // Nothing is created that could be created twice.
    idempotencyKey: undefined,
    fields: wrongFields(() => request.query({})),
  });
  const facts = await loadCreationFacts(account.accountId, submission);
  const quote = await quoteCreation(account, submission, facts);
  return json(200, quote, retirementHeaders(facts.settings?.retirement));
});
