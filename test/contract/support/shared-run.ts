import type { RunningService } from './local-service.ts';

/** Tells the tests where the shared run keeps its data. */
export const SHARED_DATA_DIR = 'CONTRACT_DATA_DIR';

/** Holds the run between global set-up, which starts it, and teardown, which stops it: one process, two module graphs. */
export const shared = globalThis as { contractRun?: RunningService };
