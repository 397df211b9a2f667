import { type Part, type Result, resultOf } from '../results.ts';
import { countApiCall, type Meters, newMeters, putMeters, readMeters } from './meters.ts';
import { PRICES } from './prices.ts';

/** Reads of each request by its caller, 2 s apart. */
const READS = 12;
const READ_EVERY_MS = 2_000;
const LIMITS = { requestsPerSecond: 1_000, burst: 1_000 };
const BALANCE_THOUSANDTHS = 1_000_000_000;
const EMAIL = 'ada@example.com';
const SEED = 1;
/** The first request of a world finds everything cold; the figures are of the second. */
const REQUESTS = 2;
/** Long enough for every step after the last read. */
const REST_MS = 300_000;
const STEP_MS = 100;
/** Files are kept for less. */
const EXPIRED_MS = 8 * 86_400_000;
/** Logs of an invocation: an assumption, of START, END and REPORT and two lines of the service. */
const LOG_BYTES = 1_500;

const KINDS = [
  {
    name: 'image',
    create: 'create-generation',
    read: 'get-generation',
    body: { model: 'xSD4.5', prompt: 'p0 [works] [off]' },
    budget: 0.35,
    // First measured here, and then a quarter less.
    writes: { budget: 29, baseline: 39 },
  },
  {
    name: 'video by callback',
    create: 'create-video',
    read: 'get-video',
    body: { model: 'xW2.7S', prompt: 'p1 [slow] [once]', image: 'https://images.example.com/a.png' },
    budget: 0.35,
    writes: {},
  },
] as const;

/** What one request used, by when. */
interface Used {
  creation: Meters;
  /** From its creation to the last read. */
  life: Meters;
  /** When its files expired. */
  expiry: Meters;
}

/** What a request costs, counted in the simulation: the real handlers and state machines, without faults. */
export const measureCosts = async (): Promise<Part> => {
  const used = await meterRequests();
  return {
    title: 'What a request costs',
    note: `Counted in the simulation, which runs the real handlers and state machines, for a request whose provider works, with ${READS} reads. Write units are by rule: 1 for each started KB of an
item, twice that in a transaction, and 1 for each entry of an index that is written or removed; what DynamoDB removes at the end of its time is free. Dollars are of [on-demand prices](../bench/costs/prices.ts)
without free tiers; a run of a function takes its waiting for calls of 1 to 4 ms each way, and 10 ms of processor, and writes 1.5 KB of logs (assumed). The runs of the
reconciler and of the expiry, which all requests share, are left out.`,
    results: KINDS.flatMap((kind, index) => resultsOf(kind, used[index] as Used)),
  };
};

const resultsOf = (
  { name, read, budget, writes }: (typeof KINDS)[number],
  { creation, life, expiry }: Used,
): Result[] => {
  const sum = (of: (meters: Meters) => number): number => of(creation) + of(life);
  const expired = expiry.writeUnitsBy.get('workflow/expire-requests') ?? 0;
  const reads = life.writeUnitsBy.get(`api/${read}`) ?? 0;
  const thousand = 1_000;
  const parts: [string, number][] = [
    ['API Gateway', sum(({ apiCalls }) => apiCalls) * PRICES.apiCall],
    ['state transitions', sum(({ transitions }) => transitions) * PRICES.transition],
    ['table writes', sum(({ writeUnits }) => writeUnits) * PRICES.writeUnit],
    ['table reads', sum(({ readUnits }) => readUnits) * PRICES.readUnit],
    [
      'functions',
      sum(({ invocations }) => invocations) * PRICES.lambdaRequest +
        sum(({ gigabyteSeconds }) => gigabyteSeconds) * PRICES.lambdaGigabyteSecond,
    ],
    ['logs', (sum(({ invocations }) => invocations) * LOG_BYTES * PRICES.logGigabyte) / 1e9],
    [
      'bucket',
      sum(({ bucketWrites }) => bucketWrites) * PRICES.bucketWrite +
        sum(({ bucketReads }) => bucketReads) * PRICES.bucketRead,
    ],
  ];
  const total = parts.reduce((dollars, [, part]) => dollars + part, 0);
  const waiting = sum(({ waitingGigabyteSeconds }) => waitingGigabyteSeconds) * PRICES.lambdaGigabyteSecond;
  return [
    resultOf(`${name}: write units of the creation`, creation.writeUnits, 'units', {
      ...(name === 'image' && { budget: 12, baseline: 14 }),
    }),
    resultOf(
      `${name}: write units, creation to removal, without its reads`,
      sum(({ writeUnits }) => writeUnits) + expired - reads,
      'units',
      writes,
    ),
    resultOf(
      `${name}: transitions`,
      sum(({ transitions }) => transitions),
      'transitions',
    ),
    resultOf(`${name}: dollars per 1,000, without waiting for providers`, total * thousand, '$', { budget }),
    ...parts.map(([part, dollars]) => resultOf(`${name}: ${part}`, dollars * thousand, '$ per 1,000')),
    resultOf(`${name}: waiting for providers`, waiting * thousand, '$ per 1,000'),
  ];
};

const meterRequests = async (): Promise<Used[]> => {
  const { loadDeployment } = await import('../../test/simulation/start.ts');
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
  const startsAt = Date.parse('2026-01-01T00:00:00.000Z');
  const world = new World({ seed: SEED, faults: [], startsAt, deployment });
  enter(world);
  setTime(world);
  /** Lets so much time pass, and as much more as it takes. */
  const during = async <T>(work: Promise<T>, milliseconds: number): Promise<T> => {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    await world.scheduler.advance(milliseconds);
    while (!isDone) await world.scheduler.advance(STEP_MS);
    return done;
  };
  const open = async (): Promise<string> => {
    const { accountId } = await insertAccount('account', new Date());
    const { text } = await insertApiKey(accountId, { scopes: SCOPES, label: '', limits: LIMITS }, new Date());
    const opening = { amountThousandths: BALANCE_THOUSANDTHS, reason: 'topup', reference: '' } as const;
    await changeBalance(accountId, opening, new Date());
    return text;
  };
  const apiKey = await during(open(), 0);
  putMeters(world);

  const meter = async ({ create, read, body }: (typeof KINDS)[number]): Promise<Used> => {
    readMeters();
    const call = (route: string, more: object) => {
      countApiCall();
      return callApi(world, { route, apiKey, ...more });
    };
    // Its execution has started when the creation is answered, so the creation is metered by its function.
    const { status, body: created } = await during(
      call(create, { body: { ...body, endUserEmail: EMAIL } }),
      100,
    );
    if (status !== 202) throw new Error(`${create} answered ${status}: ${JSON.stringify(created)}`);
    const requestId = String(created.requestId);
    for (let count = 0; count < READS; count++)
      await during(call(read, { parameters: { requestId } }), READ_EVERY_MS);
    await world.scheduler.advance(REST_MS);
    const record = world.items('REQUEST').find((item) => item.requestId === requestId);
    if (record?.status !== 'succeeded') throw new Error(`${requestId} is ${String(record?.status)}.`);
    const life = readMeters();
    await world.scheduler.advance(EXPIRED_MS);
    await during(world.lambda.run(world.functionNamed('reconcile'), { everySeconds: 60 }), REST_MS);
    const expiry = readMeters();
    const creation = { ...newMeters(), writeUnits: life.writeUnitsBy.get(`api/${create}`) ?? 0 };
    return { creation, life: { ...life, writeUnits: life.writeUnits - creation.writeUnits }, expiry };
  };
  const used: Used[] = [];
  for (const kind of KINDS) {
    let metered: Used | undefined;
    for (let request = 0; request < REQUESTS; request++) metered = await meter(kind);
    used.push(metered as Used);
  }
  setTime(undefined);
  enter(undefined);
  return used;
};
