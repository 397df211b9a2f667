import { discard } from './local-service.ts';
import { refusedCalls } from './permissions.ts';
import { shared } from './shared-run.ts';

/**
 * Stops the shared local run and removes its data. Fails when any call that the service made for any of the tests was
 * refused to its role: the deployed service would have failed there too.
 */
export default async (): Promise<void> => {
  const service = shared.contractRun;
  if (!service) return;
  const refused = await refusedCalls(service.dataDir);
  await discard(service);
  if (refused.length > 0) throw new Error(`Calls were refused to their role:\n${refused.join('\n')}`);
};
