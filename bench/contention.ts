import { mkdir, writeFile } from 'node:fs/promises';
import { TRANSACTION_MS } from '../test/simulation/aws/table.ts';
import { loadDeployment } from '../test/simulation/start.ts';
import { type ContentionRow, contentionReport, missesOf } from './contention-report.ts';

const root = new URL('../', import.meta.url);

/** Creations a second, over all accounts together. */
const RATES = [10, 25, 50, 100];
const ACCOUNTS = [1, 100];
/** How long creations keep coming. */
const SECONDS = 60;
/** End-users of one account, in turn: each creation also counts on the item of its own. */
const END_USERS = 50;
/** What a key may ask for here: far more than is asked, so that only contention refuses. */
const LIMITS = { requestsPerSecond: 10_000, burst: 10_000 };
const BALANCE_THOUSANDTHS = 1_000_000_000;
const SEED = 20_261_121;
/** A creation is over within this time: the gateway gives up after 29 s. */
const LONGEST_MS = 30_000;

/** Measures creations that come at once, in virtual time, and writes `bench/contention.json` and `docs/bench-contention.md`. */
const main = async (): Promise<void> => {
  const startedAt = performance.now();
  const deployment = await loadDeployment();
  const [{ insertAccount }, { insertApiKey, SCOPES }, { changeBalance }] = await Promise.all([
    import('../core/accounts/accounts.ts'),
    import('../core/accounts/api-keys.ts'),
    import('../core/ledger/ledger.ts'),
  ]);
  const [{ World }, { callApi }, { enter }, { setTime }] = await Promise.all([
    import('../test/simulation/world.ts'),
    import('../test/simulation/api.ts'),
    import('../test/simulation/current.ts'),
    import('../test/simulation/engine/globals.ts'),
  ]);
  // The work that a creation sets off is another matter: an execution ends as it begins.
  const nothing = { StartAt: 'Done', States: { Done: { Type: 'Succeed' as const } } };
  const machines = new Map([...deployment.machines.keys()].map((name) => [name, nothing]));
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
      rows.push(await measure(rate, accounts));
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(4);
      console.log(`${seconds} s  ${JSON.stringify(rows.at(-1))}`);
    }
  }
  await mkdir(new URL('bench/', root), { recursive: true });
  await writeFile(new URL('bench/contention.json', root), `${JSON.stringify(rows, null, 2)}\n`);
  await writeFile(
    new URL('docs/bench-contention.md', root),
    contentionReport(rows, { seconds: SECONDS, transactionMs: TRANSACTION_MS }),
  );
  const misses = missesOf(rows);
  for (const miss of misses) console.log(miss);
  process.exitCode = misses.length > 0 ? 1 : 0;
};

await main();
