import { type Result, resultOf } from '../results.ts';
import type { SimulatedService } from '../simulated/service.ts';
import { billOf, totalOf } from './bill.ts';
import { readMeters } from './meters.ts';

/** What a function fetches from a provider's file server and stores in a second: an assumption. */
const BYTES_PER_SECOND = 20e6;
const STORE_OUTPUTS = 'workflow/store-outputs';
const REST_MS = 600_000;
const FILES = [
  { name: 'storing an image of 2 MB', model: 'xSD4.5', bytes: 2e6, budget: 0.01 },
  { name: 'storing a video of 25 MB', model: 'xW2.7S', bytes: 25e6, budget: 0.06 },
] as const;

/** The size of a provider's file, by the prompt of its request; undefined for the smallest one. */
export const fileBytesOf = (prompt: string): number | undefined =>
  FILES.find(({ model, name }) => prompt === promptOf(model, name))?.bytes;

const promptOf = (model: string, name: string): string => `${model} ${name}`;

/** The cost of the function that stores an output, by the file's size: its time, and its calls of S3. */
export const measureStoring = async (service: SimulatedService): Promise<Result[]> => {
  const { world, until, create, statusOf, deployed } = service;
  const results: Result[] = [];
  for (const { name, model, bytes, budget } of FILES) {
    readMeters();
    const id = await until(create(model, promptOf(model, name)));
    await world.scheduler.advance(REST_MS);
    if (statusOf(id) !== 'succeeded') throw new Error(`${name}: ${statusOf(id)}`);
    const usage = readMeters().functions.get(STORE_OUTPUTS);
    if (!usage) throw new Error(`${name} was not metered.`);
    usage.milliseconds += (bytes / BYTES_PER_SECOND) * 1_000;
    const meters = { functions: new Map([[STORE_OUTPUTS, usage]]), transitions: new Map() };
    const bill = billOf(meters, { apiCalls: 0, gigabytes: deployed.gigabytes });
    results.push(resultOf(name, totalOf(bill) * 1_000, '$ per 1,000', { budget }));
  }
  return results;
};
