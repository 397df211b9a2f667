import { held } from './global-setup.ts';

/** Stops the server of the syntheses. */
export default async (): Promise<void> => {
  const server = held.infraSyntheses;
  delete held.infraSyntheses;
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
};
