import { beforeAll } from '@jest/globals';
import { newCaller, sharedService } from './client.ts';
import type { SharedRun } from './shared-runs.ts';

/** A caller with an account of its own on a shared run, for all tests of a file. It is there once they begin. */
export const useCaller = (xTokens?: number, run?: SharedRun): Awaited<ReturnType<typeof newCaller>> => {
  const caller = {} as Awaited<ReturnType<typeof newCaller>>;
  beforeAll(async () => {
    Object.assign(caller, await newCaller(await sharedService(run), xTokens));
  });
  return caller;
};
