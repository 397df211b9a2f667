/**
 * Plays this release after another one, in the simulation, and prints how requests ended. Some requests were open in
 * the table of the other release, which the program reads from its input; some began during a deployment.
 */
import { text } from 'node:stream/consumers';
import type { Service } from '../simulation/known-faults/service.ts';
import { loadDeployment } from '../simulation/start.ts';
import type { Deployment, Release } from '../simulation/world/aws/step-functions.ts';
import { ADDED_ATTRIBUTE } from '../simulation/world/next-release.ts';
import type { Continued, Crossed, Given, Played } from './continued.ts';
import { entityOf } from './entities.ts';
import type { Recorded } from './recorded.ts';

const deployment: Deployment = await loadDeployment();
// Only now: what these import must find the stand-ins.
const { inService } = await import('../simulation/known-faults/service.ts');
const { callApi } = await import('../simulation/stimuli/api.ts');
const { verifyLedger } = await import('../../core/ledger/verify-ledger.ts');

const HOUR_MS = 3_600_000;
const LIMITS = { limits: { maxRunning: 2 } };

const isEnded = (status: unknown): boolean => status === 'succeeded' || status === 'failed';

const continueTable = ({ at, apiKey, items }: Recorded['table']): Promise<Continued> =>
  inService(deployment, LIMITS, async ({ world, settled }) => {
    const { scheduler, table } = world;
    await scheduler.advance(Date.parse(at) - scheduler.now);
    for (const Item of items) table.write({ kind: 'Put', Item: structuredClone(Item) });
    // The indexes follow.
    await scheduler.advance(1_000);
    const ids = items.flatMap(({ SK, requestId }) => (SK === 'REQUEST' ? [String(requestId)] : []));
    const stored = () => ids.map((id) => table.get({ PK: `REQUEST#${id}`, SK: 'REQUEST' }));
    const open = ids.filter((_, index) => !isEnded(stored()[index]?.status));
    const get = async (route: string, more: object = {}): Promise<number> =>
      (await settled(callApi(world, { route, apiKey, ...more }))).status;
    const answers: Record<string, number[]> = {
      reads: await Promise.all(
        ids.map((requestId) =>
          get(requestId.startsWith('vid') ? 'get-video' : 'get-generation', { parameters: { requestId } }),
        ),
      ),
      lists: [
        await get('list-generations', { query: { pageSize: '50' } }),
        await get('list-end-users'),
        await get('list-balance-history', { query: { pageSize: '50' } }),
        await get('list-models'),
        await get('get-balance'),
      ],
    };
    const ended = await scheduler.advanceUntil(
      () => stored().every((item) => isEnded(item?.status)),
      6 * HOUR_MS,
    );
    if (!ended) throw new Error('Requests of another release do not end.');
    await scheduler.advance(HOUR_MS);
    const accountId = String(items.find(({ SK }) => SK === 'ACCOUNT')?.accountId);
    const { problems } = await settled(verifyLedger([{ accountId }]));
    const isCut = ({ PK, SK, [ADDED_ATTRIBUTE]: added }: Record<string, unknown>): boolean => {
      const now = table.get({ PK, SK });
      return added !== undefined && now !== undefined && now[ADDED_ATTRIBUTE] === undefined;
    };
    return {
      open: open.length,
      answers,
      unreadable: world.metrics.get('ItemUnreadable') ?? 0,
      problems: problems.map(({ kind, detail }) => `${kind}: ${detail}`),
      told: world.receivers.told.filter(({ requestId }) => open.includes(requestId)).length,
      cut: [...new Set(items.filter(isCut).map(({ SK }) => entityOf(String(SK))))].toSorted(),
    };
  });

/**
 * Begins requests of each kind under the definitions of one release, and deploys the definitions of the remaining
 * releases in sequence, the last after the given time.
 */
const cross = async (
  service: Service,
  [first, ...others]: readonly [Release, ...Release[]],
  afterMs: number,
): Promise<Crossed> => {
  const { world, createImage, createVideo, record, until } = service;
  const { scheduler, stepFunctions, lambda, providers } = world;
  // Turned away three times, whatever is drawn: the request waits for some seconds.
  providers.busyShare = 1;
  stepFunctions.define(first);
  const webhookUrl = 'https://hooks.caller.example/fails-first';
  const ids = [
    await createImage('instant', { webhookUrl }),
    await createImage('busy', { webhookUrl }),
    await createImage('refused', { webhookUrl }),
  ];
  // Two run at the route at once, the third waits for its turn.
  for (const behaviour of ['works', 'works', 'works'] as const) ids.push(await createVideo(behaviour));
  const running: string[] = [];
  for (const release of others) {
    await scheduler.advance(afterMs / others.length);
    running.push(...stepFunctions.running().map(({ state }) => state));
    stepFunctions.define(release);
    lambda.processes.replaceAll();
    ids.push(await createVideo('works'));
  }
  await until(() => ids.every((id) => isEnded(record(id)?.status)));
  await scheduler.advance(HOUR_MS);
  return {
    running,
    releasesAtOnce: stepFunctions.releasesAtOnce,
    statuses: ids.map((id) => String(record(id)?.status)),
    executions: ids.map((id) => String(stepFunctions.executionOf(id)?.status)),
    told: new Set(world.receivers.told.filter(({ taken }) => taken).map(({ requestId }) => requestId)).size,
  };
};

const { table, directions } = JSON.parse(await text(process.stdin)) as Given;
// First: each service begins after the ones before.
const continued = await continueTable(table);

const MOMENTS_MS = [0, 40, 400, 2_000, 9_000];
const crossed: Played['crossed'] = {};
for (const afterMs of MOMENTS_MS) {
  for (const [direction, releases] of Object.entries(directions)) {
    const one = await inService(deployment, LIMITS, (service) => cross(service, releases, afterMs));
    crossed[direction] = [...(crossed[direction] ?? []), one];
  }
}
process.stdout.write(JSON.stringify({ continued, crossed } satisfies Played));
