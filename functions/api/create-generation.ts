import { createGeneration, loadCreationFacts } from '../../core/create-generation.ts';
import { alsoWrong, type ParsedGeneration, parseGeneration } from '../../core/create-generation-rules.ts';
import { requiredEnv } from '../../core/environment.ts';
import { idempotencyOf } from '../../core/idempotency.ts';
import { generationUrl, renderQueued } from '../../core/records.ts';
import { apiHandler } from '../http/api-handler.ts';
import { authorize } from '../http/authorize.ts';
import { wrongFields } from '../http/check-all.ts';
import { json } from '../http/responses.ts';

/** Seconds a caller does best to wait before the first look: the recommended polling interval. */
const POLL_AFTER_SECONDS = '5';
const ROUTE = 'POST /v1/generations';

/** POST /v1/generations. 202 with the queued record; 400, 401, 402, 403, 409, 422, 429, 503. */
export const handler = apiHandler(async (request) => {
  const read = request.readBody();
  const parsed: ParsedGeneration = read.ok
    ? parseGeneration(read.body)
    : { ...read, model: undefined, endUserEmail: undefined };
  const { account, loaded } = await authorize(request, 'generations:write', async (accountId) => {
    const asked = alsoWrong(
      parsed,
      wrongFields(
        () => request.query({}),
        () => request.idempotencyKey(),
      ),
    );
    // Only a body that can be accepted is compared with others: any other can be nested without end.
    const key = asked.ok ? request.idempotencyKey() : undefined;
    const idempotency = key !== undefined && read.ok ? idempotencyOf(key, ROUTE, read.body) : undefined;
    const facts = await loadCreationFacts(accountId, asked, idempotency, request.now);
    return { asked, idempotency, facts };
  });
  const { request: created, replayed } = await createGeneration(
    account,
    loaded.asked,
    loaded.facts,
    loaded.idempotency,
    request.now,
  );
  const publicBaseUrl = requiredEnv('PUBLIC_BASE_URL');
  return json(202, renderQueued(created, publicBaseUrl), {
    Location: generationUrl(publicBaseUrl, created.requestId),
    'Retry-After': POLL_AFTER_SECONDS,
    ...(replayed ? { 'Idempotency-Replayed': 'true' } : {}),
  });
});
