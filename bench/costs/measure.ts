import { type Expected, type Part, type Result, resultOf } from '../results.ts';
import { openService, type SimulatedService } from '../simulated/service.ts';
import { billOf, loopBillOf, totalOf } from './bill.ts';
import { measureCalls } from './calls.ts';
import {
  LOOP,
  type Meters,
  metered,
  putMeters,
  readMeters,
  togetherOf,
  totalUsage,
  type Usage,
} from './meters.ts';
import { measureRates } from './rates.ts';
import { fileBytesOf, measureStoring } from './storing.ts';

/** Requests measured of each kind, spaced so that no request waits for another, and the time that a kind takes. */
const REQUESTS = 10;
const REQUEST_EVERY_MS = 60_000;
const KIND_MS = (REQUESTS + 10) * REQUEST_EVERY_MS;
/** Requests after which work is open all the time, and each minute has one run of the reconciler that ends. */
const WARM_REQUESTS = 3;
/** Files live for 23 h. */
const EXPIRED_MS = 24 * 3_600_000;
const EXPIRY_MS = 300_000;
const ANSWER_MS = 600;
const MINUTES_A_MONTH = 30 * 24 * 60;
const READ_EVERY_MS = 5_000;
const OPENAI_USER = 'ada@example.com';

const IDLE = { when: 'idle', minutes: 30, expected: { budget: 0.32 } };
const BUSY = {
  when: 'work open all the time',
  minutes: ((REQUESTS - WARM_REQUESTS) * REQUEST_EVERY_MS) / 60_000,
  expected: {},
};

/** Requests that are metered. `promptCharacters` of a prompt that is not as short as can be; `route` of one that is not the usual. */
interface Kind {
  name: string;
  model: string;
  workMs: number;
  promptCharacters?: number;
  route?: string;
  dollars: Expected;
  transitions: Expected;
  writes: Expected;
  /** The most write units of its creation. */
  creation: number;
}
const VIDEO = { model: 'xW2.7S', workMs: 180_000 };
const KINDS: readonly Kind[] = [
  {
    name: 'video, polled, 180 s',
    ...VIDEO,
    dollars: { budget: 0.22 },
    transitions: { budget: 6 },
    writes: { budget: 61 },
    creation: 12,
  },
  {
    name: 'image, polled, 18 s',
    model: 'xQI3Pro',
    workMs: 18_000,
    dollars: { budget: 0.21 },
    transitions: { budget: 6 },
    writes: { budget: 51 },
    creation: 12,
  },
  {
    name: 'image, synchronous, 15 s',
    model: 'xSD4.5',
    workMs: 15_000,
    dollars: { budget: 0.2005 },
    transitions: { budget: 4 },
    writes: { budget: 44 },
    creation: 12,
  },
  {
    name: 'the same, prompt of 2,000 characters',
    model: 'xSD4.5',
    workMs: 15_000,
    promptCharacters: 2_000,
    dollars: { budget: 0.211 },
    transitions: { budget: 4 },
    writes: { budget: 60 },
    creation: 16,
  },
  {
    name: 'the same by `/openai/v1`',
    model: 'xSD4.5',
    workMs: 15_000,
    route: 'create-openai-image',
    dollars: { budget: 0.26 },
    transitions: { budget: 4 },
    writes: { budget: 41 },
    creation: 20,
  },
];

/** Usage of the requests of a kind, of it the part while work was open all the time, and of the expiry of their files. */
interface Metered {
  life: Meters;
  busy: Meters;
  expiry: Meters;
}

/** What requests of the default routes cost, and the reconciler, counted in the simulation: the real handlers and state machines, without faults. */
export const measureCosts = async (): Promise<Part> => {
  const workMs = (prompt: string): number =>
    KINDS.find(({ model }) => prompt.startsWith(model))?.workMs ?? Number.NaN;
  const service = await openService({ workMs, answerMs: ANSWER_MS, fileBytes: fileBytesOf }, metered);
  putMeters(service.world);
  const { gigabytes } = service.deployed;
  try {
    const idle = await meterIdle(service);
    const used: [Kind, Metered][] = [];
    for (const kind of KINDS) used.push([kind, await meterKind(service, kind)]);
    const { busy } = (used[0] as [Kind, Metered])[1];
    const reads = await meterReads(service);
    const calls = await measureCalls(service);
    const storing = await measureStoring(service);
    const rates = await measureRates(service);
    return {
      title: 'What a request costs',
      note: `Requests with one output and a webhook on a default route, from creation to removal of the file, in the simulation: the mean of ${REQUESTS}. At [on-demand prices](../bench/costs/prices.ts), without egress, tax and cold starts. Files are of no size: [storing](../bench/costs/storing.ts) is beside, and so are the reconciler and the removal of files, by the rate of polled images.`,
      results: [
        ...used.flatMap(([kind, metered]) => resultsOf(kind, metered, gigabytes)),
        resultOfReads(reads, gigabytes),
        ...calls,
        ...storing,
        ...resultsOfLoop(IDLE, idle, gigabytes),
        ...rates,
        ...resultsOfLoop(BUSY, busy, gigabytes),
      ],
    };
  } finally {
    service.close();
  }
};

const resultsOf = (
  { name, dollars, transitions, writes, creation }: Kind,
  { life, expiry }: Metered,
  gigabytes: ReadonlyMap<string, number>,
): Result[] => {
  const bill = billOf(life, { apiCalls: REQUESTS, gigabytes });
  const each = (count = 0): number => count / REQUESTS;
  const usage = totalUsage([...life.functions].flatMap(([fn, own]) => (fn === LOOP ? [] : own)));
  const created = [...life.functions].find(([fn]) => fn.startsWith('api/create'))?.[1];
  const expired = expiry.functions.get('workflow/expire-requests')?.writeUnits;
  const thousand = 1_000 / REQUESTS;
  return [
    resultOf(`${name}: total`, totalOf(bill) * thousand, '$ per 1,000', dollars),
    ...Object.entries(bill).map(([part, price]) =>
      resultOf(`${name}: ${part}`, price * thousand, '$ per 1,000'),
    ),
    resultOf(
      `${name}: transitions of the generation`,
      each(life.transitions.get('generation')),
      'transitions',
      transitions,
    ),
    resultOf(
      `${name}: transitions of the webhook`,
      each(life.transitions.get('webhook-delivery')),
      'transitions',
    ),
    resultOf(`${name}: write units of the creation`, each(created?.writeUnits), 'units', {
      budget: creation,
    }),
    resultOf(
      `${name}: write units, creation to removal`,
      each(usage.writeUnits) + each(expired),
      'units',
      writes,
    ),
  ];
};

/** The mean cost of these reads of an unfinished video. */
const resultOfReads = (usages: readonly Usage[], gigabytes: ReadonlyMap<string, number>): Result => {
  const meters = { functions: new Map([['api/get-video', totalUsage(usages)]]), transitions: new Map() };
  const bill = billOf(meters, { apiCalls: usages.length, gigabytes });
  return resultOf('read of an unfinished video', (totalOf(bill) / usages.length) * 1e6, '$ per million');
};

const resultsOfLoop = (
  { when, minutes, expected }: { when: string; minutes: number; expected: Expected },
  meters: Meters,
  gigabytes: ReadonlyMap<string, number>,
): Result[] => {
  const { functions, table, logs } = loopBillOf(meters, gigabytes);
  const monthly = MINUTES_A_MONTH / minutes;
  return [
    resultOf(`reconciler, ${when}: total`, (functions + table + logs) * monthly, '$ a month', expected),
    resultOf(`reconciler, ${when}: functions`, functions * monthly, '$ a month'),
    resultOf(`reconciler, ${when}: table`, table * monthly, '$ a month'),
    resultOf(`reconciler, ${when}: logs`, logs * monthly, '$ a month'),
  ];
};

const meterIdle = async ({ world }: SimulatedService): Promise<Meters> => {
  readMeters();
  await world.scheduler.advance(IDLE.minutes * 60_000);
  return readMeters();
};

/** Creates a request of a kind, whose prompt begins with the model and has this name. Returns its id. */
const createOf = async (
  { create, call }: SimulatedService,
  { model, promptCharacters = 0, route }: Kind,
  name: string,
): Promise<string> => {
  if (route === undefined) return create(model, `${model} ${name}`.padEnd(promptCharacters, '.'));
  const body = { model, prompt: `${model} ${route} ${name}`, user: OPENAI_USER };
  const { status, headers } = await call({ route, body });
  if (status !== 200) throw new Error(`${route} answered ${status}.`);
  return String(headers?.Location).split('/').at(-1) ?? '';
};

const meterKind = async (service: SimulatedService, kind: Kind): Promise<Metered> => {
  const { world, until, statusOf } = service;
  const create = (name: string): Promise<string> => createOf(service, kind, name);
  // The first request of a kind finds everything cold.
  await until(create('cold'));
  await world.scheduler.advance(KIND_MS);
  readMeters();
  const ids: string[] = [];
  const endsAt = world.scheduler.now + KIND_MS;
  const createUntil = async (count: number): Promise<Meters> => {
    while (ids.length < count) {
      const nextAt = world.scheduler.now + REQUEST_EVERY_MS;
      ids.push(await until(create(String(ids.length))));
      await world.scheduler.advance(nextAt - world.scheduler.now);
    }
    return readMeters();
  };
  const warm = await createUntil(WARM_REQUESTS);
  const busy = await createUntil(REQUESTS);
  await world.scheduler.advance(endsAt - world.scheduler.now);
  const life = togetherOf(togetherOf(warm, busy), readMeters());
  for (const id of ids) if (statusOf(id) !== 'succeeded') throw new Error(`${id} is ${statusOf(id)}.`);
  service.isScheduled = false;
  await world.scheduler.advance(EXPIRED_MS);
  service.isScheduled = true;
  await world.scheduler.advance(EXPIRY_MS);
  return { life, busy, expiry: readMeters() };
};

/** Usage of each read of a video while its provider works. */
const meterReads = async ({ world, until, create, call }: SimulatedService): Promise<Usage[]> => {
  const { model, workMs } = VIDEO;
  const requestId = await until(create(model, `${model} read`));
  const reads: Usage[] = [];
  for (let at = 0; at < workMs - READ_EVERY_MS; at += READ_EVERY_MS) {
    await world.scheduler.advance(READ_EVERY_MS);
    readMeters();
    await until(call({ route: 'get-video', parameters: { requestId } }));
    const usage = readMeters().functions.get('api/get-video');
    if (!usage) throw new Error('The read was not metered.');
    reads.push(usage);
  }
  return reads;
};
