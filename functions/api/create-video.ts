import { createVideo } from '../../core/creation/create-video.ts';
import { loadCreationFacts } from '../../core/creation/creation-facts.ts';
import { videoSubmission } from '../../core/creation/submission.ts';
import { allowPrivateTargets } from '../../core/environment.ts';
import { apiHandler } from '../http/api-handler.ts';
import { authorizeKey, identifyCaller } from '../http/authorize.ts';
import { creationResponse } from '../http/creation-response.ts';
import { receiveCreation } from '../http/receive-creation.ts';

/** POST /v1/videos. 202 with the queued record; 400, 401, 402, 403, 409, 422, 429, 503. */
export const handler = apiHandler(async (request) => {
  const caller = identifyCaller(request);
  const { account, apiKey } = await authorizeKey(caller, 'generations:write', request.now);
  const submission = videoSubmission(
    receiveCreation(request, 'create-video', apiKey.keyId),
    allowPrivateTargets(),
  );
  const facts = await loadCreationFacts(account.accountId, submission);
  return creationResponse(await createVideo(account, submission, facts));
});
