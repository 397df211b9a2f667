import { registerHooks } from 'node:module';

const standIn = new URL('./upstream/undici.ts', import.meta.url).href;

/** From here on whoever imports `undici` gets the stand-in. Before anything of the service is loaded. */
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'undici' ? { url: standIn, shortCircuit: true } : next(specifier, context),
});
