import { registerHooks } from 'node:module';
import { installGlobals } from './world/engine/globals.ts';

const client = new URL('../../core/http-exchange.ts', import.meta.url).href;
const standIn = new URL('./world/upstream/http-exchange.ts', import.meta.url).href;

// From here on, every import of the HTTP client gets the stand-in. Before anything of the service is loaded.
registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    return found.url === client ? { url: standIn, shortCircuit: true } : found;
  },
});
installGlobals();

/** The service in its stand-ins, loaded once clock, timers, randomness and network of this process are stand-ins too. */
export const loadDeployment = async () => (await import('./world/service.ts')).loadService();

/** What runs scenarios. */
export const loadSimulation = async () => ({
  deployment: await loadDeployment(),
  ...(await import('./runs/property.ts')),
  ...(await import('./runs/mutations.ts')),
});
