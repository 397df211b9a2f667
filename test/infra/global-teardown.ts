import { rmSync } from 'node:fs';
import { held } from './global-setup.ts';

/** Stops the server of the syntheses, and removes its folder. */
export default async (): Promise<void> => {
  const { infraSyntheses } = held;
  delete held.infraSyntheses;
  if (!infraSyntheses) return;
  const { server, folder } = infraSyntheses;
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
};
