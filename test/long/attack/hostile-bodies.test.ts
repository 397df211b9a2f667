import '../../unit/builders/environment.ts';
import { expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { callbackUrl } from '../../../core/provider-calls/provider-urls.ts';
import { type FuzzedRequest, fuzzedRequests } from '../../contract/support/fuzz.ts';
import { aCaller } from '../../unit/builders/callers.ts';
import { NOW } from '../../unit/builders/clocks.ts';
import { anImageRequest, EMAIL, putRequest, REQUEST_ID } from '../../unit/builders/entities.ts';
import { stopTime } from '../../unit/builders/stop-time.ts';
import { callsBeforeTheKey, memory, reset, routeOf, send } from './service.ts';

const REQUESTS = 10_000;

const queryOf = (path: string): Record<string, string[]> | undefined => {
  const parameters = new URLSearchParams(path.split('?').slice(1).join('?'));
  const entries = [...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name)] as const);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
};

test('no generated request is answered 500, out of shape or at length, and strangers set off single-item calls', async () => {
  reset();
  stopTime(NOW);
  const { headers } = await aCaller(memory, {
    account: { balanceThousandths: 1_000_000_000 },
    requestsPerSecond: 1_000_000,
    burst: 10_000_000,
  });
  putRequest(memory, anImageRequest());
  const key = String(headers.Authorization).slice('Bearer '.length);
  const callback = new URL(await callbackUrl('modelark', REQUEST_ID)).pathname;
  const known = { key, requestIds: [REQUEST_ID], emails: [EMAIL], callbackPaths: [callback] };
  const statuses = new Map<number, number>();
  const attack = async (request: FuzzedRequest): Promise<void> => {
    const route = routeOf(request.method, request.path.split('?')[0] ?? '');
    if (!route) return;
    // Callbacks within 2 s of one another wait for each other.
    jest.setSystemTime(Date.now() + 2_000);
    const query = queryOf(request.path);
    const { status, calls } = await send(route.name, {
      headers: request.headers,
      pathParameters: route.pathParameters,
      ...(query && { query }),
      ...(request.body !== undefined && { body: request.body }),
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status !== 401) return;
    const allowed = callsBeforeTheKey(route.name);
    for (const [call, count] of Object.entries(calls)) {
      expect([call, count <= (allowed[call] ?? 0)]).toEqual([call, true]);
    }
  };

  let seed = 1;
  const total = () => [...statuses.values()].reduce((sum, count) => sum + count, 0);
  // What no route takes is the gateway's, so more are generated than are sent.
  while (total() < REQUESTS) {
    await fc.assert(fc.asyncProperty(fuzzedRequests(known), attack), { numRuns: 1_000, seed: seed++ });
  }

  for (const status of [200, 202, 400, 401, 404]) expect(statuses.get(status) ?? 0).toBeGreaterThan(100);
});
