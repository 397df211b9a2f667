/**
 * 1,000 requests against a route of 5 running calls, in virtual time: `npm run bench:capacity`. With `-- --quick` there are
 * fewer requests, and nothing is written. Exits with 1 when a requirement is missed.
 */
import type { Table } from '../../test/simulation/aws/table.ts';
import { loadDeployment } from '../../test/simulation/start.ts';
import { isQuick, logProgress, publish } from '../publish.ts';
import { type CapacityFigures, missesOf, reportOf } from './report.ts';

const MAX_RUNNING = 5;
/** Requests of each account: a backlog, a smaller one, and single ones that come one after another. */
const BACKLOGS = isQuick ? [60, 10] : [850, 140];
const SINGLES = isQuick ? 3 : 10;
/** Virtual time between two single requests, in milliseconds. */
const SINGLE_EVERY_MS = 60_000;
const SEED = 20_261_122;
const HOUR_MS = 3_600_000;
const LIMITS = { requestsPerSecond: 10_000, burst: 10_000 };

const main = async (): Promise<void> => {
  const deployment = await loadDeployment();
  const [{ insertAccount }, { insertApiKey, SCOPES }, { changeBalance }] = await Promise.all([
    import('../../core/accounts/accounts.ts'),
    import('../../core/accounts/api-keys.ts'),
    import('../../core/ledger/ledger.ts'),
  ]);
  const [{ World }, { callApi }, { enter }, { setTime }, { Schedule }, { Admission }, { promptOf }] =
    await Promise.all([
      import('../../test/simulation/world.ts'),
      import('../../test/simulation/api.ts'),
      import('../../test/simulation/current.ts'),
      import('../../test/simulation/engine/globals.ts'),
      import('../../test/simulation/schedule.ts'),
      import('../../test/simulation/admission-rules.ts'),
      import('../../test/simulation/upstream/providers.ts'),
    ]);
  const route = { provider: 'modelark', upstreamModel: 'seedance', maxRunning: MAX_RUNNING };
  process.env.MODEL_ROUTES = JSON.stringify({ 'xW2.7S': route });
  process.env.QUEUE_DEADLINE_SECONDS = '7200';
  const startsAt = Date.parse('2026-01-01T00:00:00.000Z');
  const world = new World({ seed: SEED, faults: [], startsAt, deployment });
  enter(world);
  setTime(world);
  const { scheduler, table } = world;

  const admission = new Admission(world);
  new Schedule(world, admission);
  const gateWrites = countGateWrites(table);
  const freed: number[] = [];
  const gaps: number[] = [];
  const starts: { account: string; requestId: string; finishings: number }[] = [];
  const waited = new Set<string>();
  const singles = new Map<string, number>();
  let finishings = 0;
  table.witnesses.push((_key, before, after) => {
    if (String(after?.SK).startsWith('WAITER#')) {
      waited.add(String(after?.requestId));
      if (after?.accountId === accounts[2]?.accountId && !singles.has(String(after?.requestId))) {
        singles.set(String(after?.requestId), finishings);
      }
    }
    if (after?.SK !== 'GATE') return;
    if (Number(after.used) < Number(before?.used ?? 0)) {
      finishings++;
      if (after.queued !== undefined) freed.push(scheduler.now);
    }
  });
  world.providers.onCall = ({ requestId }) => {
    const account = String(table.get({ PK: `REQUEST#${requestId}`, SK: 'REQUEST' })?.accountId);
    starts.push({ account, requestId, finishings });
    const since = freed.shift();
    if (since !== undefined) gaps.push(scheduler.now - since);
  };

  const accounts: { accountId: string; key: string }[] = [];
  const begin = async (): Promise<void> => {
    for (const name of ['backlog', 'smaller', 'singles']) {
      const { accountId } = await insertAccount(name, new Date());
      const options = { scopes: SCOPES, label: '', limits: LIMITS };
      const { text } = await insertApiKey(accountId, options, new Date());
      const opening = { amountThousandths: 1_000_000_000, reason: 'topup', reference: 'opening' } as const;
      await changeBalance(accountId, opening, new Date());
      accounts.push({ accountId, key: text });
    }
  };
  let created = 0;
  const create = async (account: number): Promise<void> => {
    const body = {
      model: 'xW2.7S',
      prompt: promptOf(`p${created++}`, 'works', 'once'),
      endUserEmail: `user-${created % 20}@example.com`,
      image: 'https://caller.example/first.png',
      durationSec: 2,
    };
    const apiKey = accounts[account]?.key ?? '';
    const { status } = await callApi(world, { route: 'create-video', apiKey, body });
    if (status !== 202) throw new Error(`A creation was answered with ${status}.`);
  };
  const until = async (work: Promise<void>): Promise<void> => {
    let isDone = false;
    work.then(
      () => {
        isDone = true;
      },
      (error: unknown) => world.break(error),
    );
    await scheduler.advanceUntil(() => isDone || world.broken.length > 0, HOUR_MS);
    if (world.broken[0]) throw world.broken[0];
  };

  await until(begin());
  for (const [account, count] of BACKLOGS.entries()) {
    for (let index = 0; index < count; index++) await until(create(account));
    logProgress(`${count} requests of an account are created`);
  }
  for (let index = 0; index < SINGLES; index++) {
    await until(create(2));
    await scheduler.advance(SINGLE_EVERY_MS);
  }
  const total = created;
  const isOver = (): boolean =>
    starts.length >= total && world.stepFunctions.running().every(({ machine }) => machine !== 'generation');
  await scheduler.advanceUntil(isOver, 4 * HOUR_MS);
  setTime(undefined);
  enter(undefined);

  const sorted = gaps.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  const outOfOrder = accounts.map(({ accountId }) => {
    const ids = starts.filter(({ account }) => account === accountId).map(({ requestId }) => requestId);
    const due = ids.toSorted();
    return Math.max(0, ...ids.map((id, place) => Math.abs(due.indexOf(id) - place)));
  });
  const singleWaits = [...singles].map(
    ([id, from]) => (starts.find(({ requestId }) => requestId === id)?.finishings ?? Number.NaN) - from,
  );
  const figures: CapacityFigures = {
    requests: total,
    maxRunning: MAX_RUNNING,
    served: starts.length,
    waited: waited.size,
    mostOutOfOrder: Math.max(...outOfOrder),
    mostFinishingsOfSingle: Math.max(0, ...singleWaits),
    violations: admission.violations,
    transitionsWaiting: 3,
    writeUnits: Number((gateWrites.units / total).toFixed(2)),
    writes: Number((gateWrites.calls / total).toFixed(2)),
    gapMs: { p50: at(0.5), p99: at(0.99), max: at(1) },
  };
  logProgress(JSON.stringify(figures));
  await publish('capacity', figures, reportOf(figures));
  const misses = missesOf(figures);
  for (const miss of misses) console.log(miss);
  process.exitCode = misses.length > 0 ? 1 : 0;
};

/** Counts writes of gates and of what waits at them, refused ones too, and their units: 1 for each started kilobyte. */
const countGateWrites = (table: Table): { calls: number; units: number } => {
  const counted = { calls: 0, units: 0 };
  const units = (item: unknown): number => Math.ceil(JSON.stringify(item ?? '').length / 1024);
  let changed = 0;
  table.witnesses.push((key, before, after) => {
    if (key.startsWith('GATE#')) changed = Math.max(units(before), units(after));
  });
  const write = table.write.bind(table);
  table.write = (one) => {
    const isGate = String((one.Key ?? one.Item)?.PK).startsWith('GATE#');
    changed = 1;
    try {
      return write(one);
    } finally {
      if (isGate) {
        counted.calls++;
        counted.units += changed;
      }
    }
  };
  return counted;
};

await main();
