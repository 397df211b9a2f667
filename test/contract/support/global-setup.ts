import { newDataDir, startLocalService } from './local-service.ts';
import { SHARED_DATA_DIR, shared } from './shared-run.ts';

/** One local run for every contract test that needs no settings of its own. */
export default async (): Promise<void> => {
  const dataDir = await newDataDir();
  shared.contractRun = await startLocalService(dataDir);
  process.env[SHARED_DATA_DIR] = dataDir;
};
