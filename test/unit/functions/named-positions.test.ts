import { expect, test } from '@jest/globals';
import { queueEntryKey, routeLimitKey } from '../../../core/table/keys.ts';
import { handler as awaitCapacity } from '../../../functions/workflow/await-capacity.ts';
import { aLambdaContext } from '../builders/api-events.ts';
import { anImageRequest, REQUEST_ID } from '../builders/entities.ts';
import { memory } from '../core/dispatch/a-dispatch.ts';
import { FIRST, SECOND, TwoRoutes } from '../core/dispatch/two-routes.ts';

/** Where the definition gets the token and the entry of the state from. */
const WAIT = { taskToken: 'token-1', enteredAt: '2026-01-01T00:00:00.000Z', retries: 0 };

test('a queue position reaches the queue entry as the dispatch names it, with the routes that may take the request', async () => {
  const two = new TwoRoutes();
  two.calls[FIRST] = 3;
  two.configure(FIRST, { maxRunning: 2, requestsPerSecond: 5 });
  memory.put(routeLimitKey(FIRST), { used: 2 });
  two.given({ images: 3 });
  const step = await two.dispatch();
  expect(step).toMatchObject({ next: 'queue', route: FIRST, weight: 2, starts: 3, routes: [FIRST, SECOND] });

  const position: unknown = JSON.parse(JSON.stringify(step));
  await two.under(() => awaitCapacity({ requestId: REQUEST_ID, ...WAIT, position }, aLambdaContext()));

  const { next: _, timeoutSeconds: __, route: ___, ...named } = step as typeof step & { next: 'queue' };
  const { accountId } = anImageRequest();
  const createdAt = two.clock.now().toISOString();
  expect(memory.get(queueEntryKey(FIRST, { requestId: REQUEST_ID, accountId, createdAt }))).toMatchObject(
    named,
  );
});
