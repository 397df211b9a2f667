import { type Result, resultOf } from '../results.ts';
import type { SimulatedService } from '../simulated/service.ts';
import { billOf, loopBillOf, totalOf } from './bill.ts';
import { type Meters, readMeters } from './meters.ts';
import { PRICES } from './prices.ts';

const MODEL = 'xQI3Pro';
const HOURS_A_MONTH = 30 * 24;
/** Files live for 23 h; their removal begins within a minute. */
const FILE_LIFE_MS = 23 * 3_600_000 + 60_000;
/** Rates of requests, and the time over which each is metered. */
const RATES = [
  { name: 'reconciler, a request an hour', everyMs: 3_600_000, hours: 3, budgets: [0.32, 0.1] },
  { name: 'reconciler, 1,000 an hour', everyMs: 3_600, hours: 0.25, budgets: [11, 7.2] },
] as const;

/**
 * The cost of the reconciler and of the removal of files at two rates of requests, while files of a day before expire at that rate. Requests
 * are polled images of 18 s.
 */
export const measureRates = async (service: SimulatedService): Promise<Result[]> => {
  const { gigabytes } = service.deployed;
  const results: Result[] = [];
  for (const { name, everyMs, hours, budgets } of RATES) {
    const meters = await meterRate(service, { name, everyMs, hours });
    const { functions, table, logs } = loopBillOf(meters, gigabytes);
    const monthly = HOURS_A_MONTH / hours;
    const [ofLoop, ofExpiry] = budgets;
    results.push(
      resultOf(`${name}: total`, (functions + table + logs) * monthly, '$ a month', { budget: ofLoop }),
      resultOf(`${name}: removal of files`, expiryOf(meters, gigabytes) * monthly, '$ a month', {
        budget: ofExpiry,
      }),
    );
  }
  return results;
};

type Rate = Pick<(typeof RATES)[number], 'name' | 'everyMs' | 'hours'>;

/** Usage of a time in which requests are made at a rate, and files expire that were made at that rate. */
const meterRate = async (service: SimulatedService, { name, everyMs, hours }: Rate): Promise<Meters> => {
  const { world, until, create } = service;
  const { scheduler } = world;
  const makeAll = async (day: string): Promise<void> => {
    const endsAt = scheduler.now + hours * 3_600_000;
    for (let count = 0; scheduler.now < endsAt; count++) {
      const nextAt = scheduler.now + everyMs;
      await until(create(MODEL, `${MODEL} ${day} ${name} ${count}`));
      await scheduler.advance(Math.max(0, nextAt - scheduler.now));
    }
  };
  const expireFrom = scheduler.now + FILE_LIFE_MS;
  await makeAll('first');
  service.isScheduled = false;
  await scheduler.advance(expireFrom - scheduler.now);
  service.isScheduled = true;
  readMeters();
  await makeAll('second');
  return readMeters();
};

const EXPIRY_FUNCTIONS = ['workflow/list-expired-requests', 'workflow/expire-requests'];

/** What the removal of files costs in dollars: its state machine and functions. */
const expiryOf = ({ functions, transitions }: Meters, gigabytes: ReadonlyMap<string, number>): number => {
  const used = new Map([...functions].filter(([fn]) => EXPIRY_FUNCTIONS.includes(fn)));
  const bill = billOf({ functions: used, transitions: new Map() }, { apiCalls: 0, gigabytes });
  return totalOf(bill) + (transitions.get('expiry') ?? 0) * PRICES.transition;
};
