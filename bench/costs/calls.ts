import type { ApiCall } from '../../test/simulation/stimuli/api.ts';
import { type Result, resultOf } from '../results.ts';
import type { SimulatedService } from '../simulated/service.ts';
import { billOf, totalOf } from './bill.ts';
import { readMeters } from './meters.ts';

const MODEL = 'xSD4.5';
/** Requests of the account's newest end-user, on which the calls work. */
const REQUESTS = 60;
const REQUEST_EVERY_MS = 1_000;
/** The works of the last one, and then its webhook. */
const REST_MS = 120_000;
const EMAIL = 'grace@example.com';

/** The cost of a call of each kind, without the work that it starts. Ends the life of the account's requests. */
export const measureCalls = async (service: SimulatedService): Promise<Result[]> => {
  const { world, until, call, create, deployed } = service;
  const ids: string[] = [];
  for (let count = 0; count < REQUESTS; count++) {
    ids.push(await until(create(MODEL, `${MODEL} call ${count}`, EMAIL)));
    await world.scheduler.advance(REQUEST_EVERY_MS);
  }
  await world.scheduler.advance(REST_MS);
  const newest = ids.at(-1) ?? '';
  const body = { model: MODEL, prompt: `${MODEL} last`, endUserEmail: EMAIL };
  const email = { email: EMAIL };
  const calls: [name: string, call: Omit<ApiCall, 'apiKey'>][] = [
    ['POST /v1/generations', { route: 'create-generation', body }],
    ['GET /v1/generations/{requestId}', { route: 'get-generation', parameters: { requestId: newest } }],
    ['GET /v1/generations', { route: 'list-generations' }],
    ['GET /v1/end-users', { route: 'list-end-users' }],
    ['GET /v1/models', { route: 'list-models' }],
    ['GET /v1/balance', { route: 'get-balance' }],
    ['GET /v1/balance/history', { route: 'list-balance-history' }],
    ['POST /v1/end-users/{email}/block', { route: 'block-end-user', parameters: email }],
    ['POST /v1/end-users/{email}/unblock', { route: 'unblock-end-user', parameters: email }],
    ['DELETE /v1/generations/{requestId}', { route: 'delete-generation', parameters: { requestId: newest } }],
    [
      'POST /v1/generations/bulk-delete, 20 ids',
      { route: 'bulk-delete-generations', body: { requestIds: ids.slice(0, 20) } },
    ],
    ['DELETE /v1/end-users/{email}, 40 requests', { route: 'delete-end-user', parameters: email }],
  ];
  const results: Result[] = [];
  for (const [name, asked] of calls) {
    // A function's first run reads settings and secrets that later ones have.
    if (name.startsWith('GET')) await until(call(asked));
    readMeters();
    const { status } = await until(call(asked));
    if (status >= 300) throw new Error(`${name} answered ${status}.`);
    const usage = readMeters().functions.get(`api/${asked.route}`);
    if (!usage) throw new Error(`${name} was not metered.`);
    const meters = { functions: new Map([[`api/${asked.route}`, usage]]), transitions: new Map() };
    const bill = billOf(meters, { apiCalls: 1, gigabytes: deployed.gigabytes });
    results.push(resultOf(`call, \`${name}\``, totalOf(bill) * 1e6, '$ per million'));
    // The request just created ends, so that its end-user can be deleted.
    if (asked.body === body) await world.scheduler.advance(REST_MS);
  }
  return results;
};
