import './hooks.ts';
import { installGlobals } from './engine/globals.ts';

installGlobals();

/** The service in its stand-ins, loaded once clock, timers, randomness and network of this process are stand-ins too. */
export const loadDeployment = async () => (await import('./service.ts')).loadService();

/** What runs scenarios. */
export const loadSimulation = async () => ({
  deployment: await loadDeployment(),
  ...(await import('./property.ts')),
  ...(await import('./mutations.ts')),
});
