/**
 * Measures concurrent creations in virtual time: `npm run bench:contention`. With `-- --quick` it simulates fewer seconds
 * and writes nothing. Exits with 1 when a requirement is missed.
 */
import { TRANSACTION_MS } from '../../test/simulation/aws/table.ts';
import { loadDeployment } from '../../test/simulation/start.ts';
import { isQuick, logProgress, publish } from '../publish.ts';
import { type ContentionRow, missesOf, reportOf } from './report.ts';

/** Creations a second, all accounts together. */
const RATES = [10, 25, 50, 100];
const ACCOUNTS = [1, 100];
/** How long creations arrive, in virtual seconds. */
const SECONDS = isQuick ? 2 : 60;
/** End-users of each account, in turn; a creation also updates the item of its end-user. */
const END_USERS = 50;
/** The keys' rate limit, far above all rates, so that only contention causes a 429. */
const LIMITS = { requestsPerSecond: 10_000, burst: 10_000 };
const BALANCE_THOUSANDTHS = 1_000_000_000;
const SEED = 20_261_121;
/** Enough for the last creations to finish: the gateway's timeout is 29 s. */
const LONGEST_MS = 30_000;

const main = async (): Promise<void> => {
  const deployment = await loadDeployment();
  const [{ insertAccount }, { insertApiKey, SCOPES }, { changeBalance }] = await Promise.all([
    import('../../core/accounts/accounts.ts'),
    import('../../core/accounts/api-keys.ts'),
    import('../../core/ledger/ledger.ts'),
  ]);
  const [{ World }, { callApi }, { enter }, { setTime }] = await Promise.all([
    import('../../test/simulation/world.ts'),
    import('../../test/simulation/api.ts'),
    import('../../test/simulation/current.ts'),
    import('../../test/simulation/engine/globals.ts'),
  ]);
  // Only creations are measured, so executions succeed at once.
  const emptyMachine = { StartAt: 'Done', States: { Done: { Type: 'Succeed' as const } } };
  const machines = new Map([...deployment.machines.keys()].map((name) => [name, emptyMachine]));
  let startsAt = Date.parse('2026-01-01T00:00:00.000Z');

  const measure = async (rate: number, accounts: number): Promise<ContentionRow> => {
    const world = new World({ seed: SEED, faults: [], startsAt, deployment: { ...deployment, machines } });
    enter(world);
    setTime(world);
    const keys: string[] = [];
    const openAccounts = async (): Promise<void> => {
      for (let index = 0; index < accounts; index++) {
        const { accountId } = await insertAccount(`account ${index}`, new Date());
        const options = { scopes: SCOPES, label: '', limits: LIMITS };
        keys.push((await insertApiKey(accountId, options, new Date())).text);
        const opening = {
          amountThousandths: BALANCE_THOUSANDTHS,
          reason: 'topup',
          reference: 'opening',
        } as const;
        await changeBalance(accountId, opening, new Date());
      }
    };
    const opened = openAccounts();
    await world.scheduler.advance(accounts * 1_000);
    await opened;

    const latencies: number[] = [];
    const statuses = new Map<number, number>();
    const create = async (apiKey: string, index: number): Promise<void> => {
      const body = {
        model: 'xQI3Pro',
        prompt: 'a lighthouse',
        endUserEmail: `user-${index % END_USERS}@example.com`,
      };
      const begun = world.scheduler.now;
      const { status } = await callApi(world, { route: 'create-generation', apiKey, body });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 202) latencies.push(world.scheduler.now - begun);
    };
    let offered = 0;
    for (let at = 0; at < SECONDS * 1000; ) {
      const gap = (-Math.log(1 - world.random.next()) * 1000) / rate;
      at += gap;
      await world.scheduler.advance(gap);
      void create(keys[world.random.whole(0, keys.length - 1)] as string, offered++);
    }
    await world.scheduler.advance(LONGEST_MS);
    startsAt = world.scheduler.now + 86_400_000;
    setTime(undefined);
    enter(undefined);

    const sorted = latencies.toSorted((a, b) => a - b);
    const percentile = (share: number): number =>
      Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
    const count = (matches: (status: number) => boolean): number =>
      [...statuses].filter(([status]) => matches(status)).reduce((sum, [, times]) => sum + times, 0);
    return {
      accounts,
      creationsPerSecond: rate,
      offered,
      accepted: count((status) => status === 202),
      rateLimited: count((status) => status === 429),
      serverErrors: count((status) => status >= 500),
      p50Ms: percentile(0.5),
      p95Ms: percentile(0.95),
      p99Ms: percentile(0.99),
      maxMs: percentile(1),
    };
  };

  const rows: ContentionRow[] = [];
  for (const accounts of ACCOUNTS) {
    for (const rate of RATES) {
      const row = await measure(rate, accounts);
      rows.push(row);
      logProgress(JSON.stringify(row));
    }
  }
  await publish('contention', rows, reportOf(rows, { seconds: SECONDS, transactionMs: TRANSACTION_MS }));
  const misses = missesOf(rows);
  for (const miss of misses) console.log(miss);
  process.exitCode = misses.length > 0 ? 1 : 0;
};

await main();
