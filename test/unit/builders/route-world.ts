import { clearCaches } from '@aws-lambda-powertools/parameters';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { type EndpointName, ROUTES } from '../../../core/routes.ts';
import { table } from '../../../core/table/table.ts';
import { MemoryExecutions } from '../fakes/memory-executions.ts';
import { MemorySecrets } from '../fakes/memory-secrets.ts';
import { MemoryTable } from '../fakes/memory-table.ts';
import { aLambdaContext, anApiEvent, read } from './api-events.ts';
import { aCaller } from './callers.ts';
import { NOW } from './clocks.ts';
import { aSigningKey } from './signing-key.ts';
import { stopTime } from './stop-time.ts';

/** The entry point of a route. */
export type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;
export type ApiEvent = NonNullable<Parameters<typeof anApiEvent>[0]>;
export type CallerOptions = NonNullable<Parameters<typeof aCaller>[1]>;

/** Where the routes of the API run: their table, executions and secrets in memory, at a stopped time. */
export class RouteWorld {
  readonly memory = new MemoryTable(table);
  readonly executions = new MemoryExecutions();
  readonly secrets = new MemorySecrets();
  now = NOW;

  /** Empties everything for the next test, an hour later: credentials and settings are cached for minutes. */
  reset(): void {
    clearCaches();
    this.memory.reset();
    this.executions.reset();
    this.secrets.reset();
    this.secrets.set('arn:delivery-key', aSigningKey().privateKeyPem);
    this.secrets.set('arn:callback-secret', 'secret');
    this.secrets.set('arn:modelark-key', 'key');
    this.secrets.set('arn:modelstudio-key', 'key');
    this.now = new Date(this.now.getTime() + 3_600_000);
    stopTime(this.now);
  }

  /** An instant this many seconds from now. */
  inSeconds(seconds: number): string {
    return new Date(this.now.getTime() + seconds * 1000).toISOString();
  }

  /** Calls a route as a caller with an account and a key, and counts the calls to the table from there. */
  async call(handler: Handler, event: ApiEvent = {}, caller: CallerOptions = {}) {
    const { headers } = await aCaller(this.memory, caller);
    this.memory.client.resetHistory();
    return read(await handler(anApiEvent({ headers, ...event }), aLambdaContext()));
  }
}

/** Every route that callers with a key use. */
export const CALLER_ROUTES = (Object.keys(ROUTES) as EndpointName[]).filter(
  (name) => name !== 'receive-callback',
);

/** Loads the entry points of those routes. */
export const loadHandlers = async (): Promise<(name: EndpointName) => Handler> => {
  const handlers = new Map<EndpointName, Handler>();
  for (const name of CALLER_ROUTES) {
    handlers.set(name, (await import(`../../../functions/api/${name}.ts`)).handler);
  }
  return (name) => {
    const handler = handlers.get(name);
    if (!handler) throw new Error(`${name} has no handler.`);
    return handler;
  };
};
