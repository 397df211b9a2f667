import type { Deployment } from '../world/aws/step-functions.ts';
import { spend, UNGUARDED } from './budgets.ts';
import { measureDeaths } from './deaths.ts';
import { measureIndexLags, measureWebhookTrace } from './deletions.ts';
import { measureFailovers } from './failover.ts';
import { measureHanging, measureOutages } from './permits.ts';
import { measureSecondRefunds } from './refunds.ts';
import { measureTornReads } from './torn-reads.ts';

const CREATIONS_WITH_BUG = 400;

/** What is measured in a process of its own. */
export const MEASUREMENTS = {
  /** Every known fault with what the service made of it. */
  'known faults': async (deployment: Deployment) => ({
    outages: await measureOutages(deployment),
    hanging: await measureHanging(deployment),
    deaths: await measureDeaths(deployment),
    indexLags: await measureIndexLags(deployment),
    webhookTrace: await measureWebhookTrace(deployment),
    secondRefunds: await measureSecondRefunds(deployment),
    tornReads: await measureTornReads(deployment),
    failovers: await measureFailovers(deployment),
  }),
  /** So many creations against budgets, and some with a bug. */
  budgets: async (deployment: Deployment, creations: number) => ({
    spent: await spend(deployment, creations),
    unguarded: await spend(deployment, CREATIONS_WITH_BUG, UNGUARDED),
  }),
};
export type Measured<Name extends keyof typeof MEASUREMENTS> = Awaited<
  ReturnType<(typeof MEASUREMENTS)[Name]>
>;
