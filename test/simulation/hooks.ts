import { registerHooks } from 'node:module';

const client = new URL('../../core/http-exchange.ts', import.meta.url).href;
const standIn = new URL('./upstream/http-exchange.ts', import.meta.url).href;

/** From here on, every import of the HTTP client gets the stand-in. Before anything of the service is loaded. */
registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    return found.url === client ? { url: standIn, shortCircuit: true } : found;
  },
});
