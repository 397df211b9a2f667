import { changeBalance } from '../../core/ledger/ledger.ts';
import { isQuick } from '../publish.ts';
import type { Section } from './lists.ts';
import { type Row, rowOf } from './rows.ts';
import {
  type Caller,
  endUserEmail,
  putAttempts,
  putCaller,
  putEndUserWithRequests,
  putRequests,
} from './seed.ts';
import type { ApiCall, MeasuredService } from './service.ts';

const BULK = isQuick ? 20 : 200;
const EMAIL = endUserEmail(0);
const CASCADES = (isQuick ? [10, 100] : [10, 200]).map((count) => ({
  count,
  email: `with-${count}@customer.example.com`,
}));

const CREATION = {
  model: 'xSD4.5',
  prompt: 'a lighthouse on a rocky shore at dusk',
  endUserEmail: EMAIL,
};
const KEYED = { 'Idempotency-Key': 'the bench' };

/** Measures every request that is not a list, once. */
export const measureSingleRequests = async (service: MeasuredService, now: Date): Promise<Section[]> => {
  const caller = await putCaller('single requests', now);
  const topup = { amountThousandths: 100_000, reason: 'topup', reference: '' } as const;
  await changeBalance(caller.account.accountId, topup, now);
  const requestIds = await putRequests(caller, EMAIL, { count: BULK + 1, fate: 'succeeded', now });
  await putAttempts(requestIds, now);
  for (const { count, email } of CASCADES) await putEndUserWithRequests(caller, email, { count, now });

  const measure = measureWith(service, caller);
  return [
    { title: 'Creation', rows: await measureCreation(measure) },
    { title: 'One record', rows: await measureReads(measure, requestIds[0] ?? '') },
    { title: 'Deletion', rows: await measureDeletions(measure, requestIds) },
    { title: 'One end-user', rows: await measureEndUsers(measure) },
  ];
};

type Measure = (situation: string, call: Omit<ApiCall, 'apiKey'>, expected?: Expected) => Promise<Row>;
interface Expected {
  /** The path as documented. Defaults to the path of the call. */
  route?: string;
  /** Default 200. */
  status?: number;
}

const measureWith =
  (service: MeasuredService, { apiKey }: Caller): Measure =>
  async (situation, call, { route = call.path, status = 200 } = {}) => {
    const measured = await service.send({ apiKey, ...call });
    return rowOf(measured, { request: `${call.method ?? 'GET'} ${route}`, situation }, status);
  };

const measureCreation = async (measure: Measure): Promise<Row[]> => {
  const creation = { method: 'POST', path: '/v1/generations', body: CREATION };
  const accepted = { status: 202 };
  return [
    await measure('a new end-user', creation, accepted),
    await measure('a known end-user', creation, accepted),
    await measure('with an Idempotency-Key', { ...creation, headers: KEYED }, accepted),
    await measure('replayed', { ...creation, headers: KEYED }, accepted),
  ];
};

const measureReads = async (measure: Measure, requestId: string): Promise<Row[]> => [
  await measure(
    'succeeded',
    { path: `/v1/generations/${requestId}` },
    { route: '/v1/generations/{requestId}' },
  ),
  await measure('the catalog', { path: '/v1/models' }),
  await measure('', { path: '/v1/balance' }),
];

const measureDeletions = async (measure: Measure, requestIds: readonly string[]): Promise<Row[]> => [
  await measure(
    'succeeded, one file',
    { method: 'DELETE', path: `/v1/generations/${requestIds[0]}` },
    { route: '/v1/generations/{requestId}' },
  ),
  await measure(`${BULK} ids, one file each`, {
    ...{ method: 'POST', path: '/v1/generations/bulk-delete' },
    body: { requestIds: requestIds.slice(1) },
  }),
];

const measureEndUsers = async (measure: Measure): Promise<Row[]> => {
  const pathOf = (email: string) => `/v1/end-users/${encodeURIComponent(email)}`;
  const post = (action: string) =>
    measure(
      '',
      { method: 'POST', path: `${pathOf(EMAIL)}/${action}` },
      { route: `/v1/end-users/{email}/${action}` },
    );
  const rows = [await post('block'), await post('unblock')];
  for (const { count, email } of CASCADES) {
    const situation = `${count.toLocaleString('en')} requests, one file each`;
    const call = { method: 'DELETE', path: pathOf(email) };
    rows.push(await measure(situation, call, { route: '/v1/end-users/{email}' }));
  }
  return rows;
};
