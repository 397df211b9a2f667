import type { Deployment } from '../aws/step-functions.ts';
import { measureDeaths } from './deaths.ts';
import { measureIndexLags, measureWebhookTrace } from './deletions.ts';
import { measureFailovers } from './failover.ts';
import { measureHanging, measureOutages } from './permits.ts';
import { measureSecondRefunds } from './refunds.ts';
import { measureTornReads } from './torn-reads.ts';

/** Every fault with what the service made of it. */
export const measureAll = async (deployment: Deployment) => {
  return {
    outages: await measureOutages(deployment),
    hanging: await measureHanging(deployment),
    deaths: await measureDeaths(deployment),
    indexLags: await measureIndexLags(deployment),
    webhookTrace: await measureWebhookTrace(deployment),
    secondRefunds: await measureSecondRefunds(deployment),
    tornReads: await measureTornReads(deployment),
    failovers: await measureFailovers(deployment),
  };
};

export type Measured = Awaited<ReturnType<typeof measureAll>>;
