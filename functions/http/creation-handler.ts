import type { Account } from '../../core/accounts/accounts.ts';
import {
  type Creation,
  type CreationFacts,
  loadCreationFacts,
  type NewRequest,
} from '../../core/creation/create-request.ts';
import { alsoWrong, type ParsedCreation } from '../../core/creation/creation-fields.ts';
import { type Idempotency, idempotencyOf } from '../../core/creation/idempotency.ts';
import { requiredEnv } from '../../core/environment.ts';
import { recordUrl, renderQueued } from '../../core/requests/render-record.ts';
import { apiHandler } from './api-handler.ts';
import { authorize } from './authorize.ts';
import { wrongFields } from './check-all.ts';
import { json } from './responses.ts';

/** Seconds a caller does best to wait before the first look: the recommended polling interval. */
const POLL_AFTER_SECONDS = '5';

/** A body that has been read by the rules of its route. */
interface ReadCreation<New extends NewRequest> {
  parsed: ParsedCreation<New>;
}

/**
 * The handler of a creation. 202 with the queued record, where it is read, and whether it is a repetition;
 * refusals in the order of `authorize`, then those of `create`. `parse` reads the body and never throws.
 */
export const creationHandler = <New extends NewRequest, Read extends ReadCreation<New>>(
  route: string,
  parse: (body: Record<string, unknown>) => Read | ReadCreation<New>,
  create: (
    account: Account,
    read: Read | ReadCreation<New>,
    facts: CreationFacts,
    idempotency: Idempotency | undefined,
    now: Date,
  ) => Promise<Creation>,
) =>
  apiHandler(async (request) => {
    const body = request.readBody();
    const read = body.ok
      ? parse(body.body)
      : { parsed: { ...body, model: undefined, endUserEmail: undefined } as ParsedCreation<New> };
    const { account, loaded } = await authorize(request, 'generations:write', async (accountId) => {
      const beside = wrongFields(
        () => request.query({}),
        () => request.idempotencyKey(),
      );
      const asked = { ...read, parsed: alsoWrong(read.parsed, beside) };
      // Only a body that can be accepted is compared with others: any other can be nested without end.
      const key = asked.parsed.ok ? request.idempotencyKey() : undefined;
      const idempotency = key !== undefined && body.ok ? idempotencyOf(key, route, body.body) : undefined;
      const facts = await loadCreationFacts(accountId, asked.parsed, idempotency, request.now);
      return { asked, idempotency, facts };
    });
    const { asked, facts, idempotency } = loaded;
    const { request: created, replayed } = await create(account, asked, facts, idempotency, request.now);
    const publicBaseUrl = requiredEnv('PUBLIC_BASE_URL');
    return json(202, renderQueued(created, publicBaseUrl), {
      Location: recordUrl(publicBaseUrl, created),
      'Retry-After': POLL_AFTER_SECONDS,
      ...(replayed ? { 'Idempotency-Replayed': 'true' } : {}),
    });
  });
