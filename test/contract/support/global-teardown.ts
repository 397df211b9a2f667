import { held } from './global-setup.ts';

/** Stops what the tests shared. Fails when a call of the service was refused to its role. */
export default async (): Promise<void> => {
  const server = held.contractFixtures;
  delete held.contractFixtures;
  await server?.close();
};
