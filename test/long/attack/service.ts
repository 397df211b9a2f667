import '../../unit/builders/environment.ts';
import assert from 'node:assert/strict';
import { clearCaches } from '@aws-lambda-powertools/parameters';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { ERROR_STATUS, type ErrorCode } from '../../../core/errors.ts';
import { logger } from '../../../core/observability.ts';
import { type EndpointName, ROUTES } from '../../../core/routes.ts';
import { table } from '../../../core/table/table.ts';
import { aLambdaContext, anApiEvent } from '../../unit/builders/api-events.ts';
import { aSigningKey } from '../../unit/builders/signing-key.ts';
import { MemoryBucket } from '../../unit/fakes/memory-bucket.ts';
import { MemoryExecutions } from '../../unit/fakes/memory-executions.ts';
import { MemorySecrets } from '../../unit/fakes/memory-secrets.ts';
import { MemoryTable } from '../../unit/fakes/memory-table.ts';

/** The largest answer to any request, in bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** What a request was answered, and the table calls it set off, by command. */
export interface Answer {
  status: number;
  body: { error?: { code: string; message: string; fields?: Record<string, string> } } & Record<
    string,
    unknown
  >;
  calls: Record<string, number>;
}

// Tens of thousands of refusals would be printed.
assert.equal(logger.getLevelName(), 'SILENT', 'Import environment.ts before anything in core.');

export const memory = new MemoryTable(table);
export const secrets = new MemorySecrets();
export const executions = new MemoryExecutions();
new MemoryBucket();

const handlers = new Map<EndpointName, Handler>();
for (const name of Object.keys(ROUTES) as EndpointName[]) {
  handlers.set(name, (await import(`../../../functions/api/${name}.ts`)).handler);
}

/** The routes that take a key. */
export const KEYED_ROUTES = (Object.keys(ROUTES) as EndpointName[]).filter(
  (name) => name !== 'receive-callback',
);

/** Empties the service. */
export const reset = (): void => {
  clearCaches();
  memory.reset();
  executions.reset();
  secrets.reset();
  secrets.set('arn:delivery-key', aSigningKey().privateKeyPem);
  for (const name of ['callback-secret', 'modelark-key', 'modelstudio-key'])
    secrets.set(`arn:${name}`, 'secret');
};

/** Sends an event to a route. Throws when the answer breaks the contract: its shape, its size, a 500. */
export const send = async (name: EndpointName, event: Parameters<typeof anApiEvent>[0]): Promise<Answer> => {
  const handler = handlers.get(name);
  if (!handler) throw new Error(`${name} has no handler.`);
  memory.client.resetHistory();
  const { statusCode, headers, body } = await handler(
    anApiEvent({ resource: ROUTES[name].path, method: ROUTES[name].method, ...event }),
    aLambdaContext(),
  );
  const answer = { status: statusCode, body: JSON.parse(body), calls: memory.calls() };
  check(answer, headers ?? {}, Buffer.byteLength(body));
  return answer;
};

const check = ({ status, body }: Answer, headers: Record<string, unknown>, bytes: number): void => {
  assert.ok(status < 500 || status === 503, `${status}: ${JSON.stringify(body)}`);
  assert.ok(bytes <= MAX_ANSWER_BYTES, `An answer of ${bytes} bytes.`);
  assert.equal(headers['Content-Type'], 'application/json');
  assert.equal(headers['X-Content-Type-Options'], 'nosniff');
  if (status < 400) {
    assert.equal(body.error, undefined);
    return;
  }
  assert.deepEqual(Object.keys(body), ['error']);
  const { code, message, fields = {} } = body.error ?? { code: '', message: 0 };
  assert.equal(ERROR_STATUS[code as ErrorCode], status);
  assert.equal(typeof message, 'string');
  assert.ok(Object.keys(fields).length <= 20);
  if (status === 429 || status === 503) assert.match(String(headers['Retry-After']), /^[1-9]\d*$/);
};

/** The route of a method and a path as sent, with undecoded parameters; undefined for an unknown route. */
export const routeOf = (
  method: string,
  path: string,
): { name: EndpointName; pathParameters: Record<string, string> } | undefined => {
  for (const [name, route] of Object.entries(ROUTES) as [EndpointName, (typeof ROUTES)[EndpointName]][]) {
    const pattern = new RegExp(`^${route.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    const match = route.method === method ? pattern.exec(path) : null;
    // A literal path wins over a parameter.
    const isLiteral = Object.values(ROUTES).some((other) => other.path === path && other.path !== route.path);
    if (match && !isLiteral) return { name, pathParameters: { ...match.groups } };
  }
  return undefined;
};

/** Single items that a route reads while the key is looked up. */
const READS_BESIDE: Partial<Record<EndpointName, number>> = { 'get-generation': 1, 'get-video': 2 };

/** The single-item calls that a caller may set off on a route before the key is known to be good. */
export const callsBeforeTheKey = (name: EndpointName): Record<string, number> => ({
  UpdateCommand: 1,
  GetCommand: 1 + (READS_BESIDE[name] ?? 0),
});
