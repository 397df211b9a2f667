import { request as httpRequest } from 'node:http';
import { afterEach } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type FrontDoor, startFrontDoor } from '../../src/gateway/front-door.ts';
import { createGateway, type GatewayOptions } from '../../src/gateway/gateway.ts';
import type { ApiSpec, RouteSpec } from '../../src/template/api.ts';
import type { InvocationResult } from '../../src/types.ts';

/** A route to the function `name`. */
export const aRoute = (
  method: string,
  resourcePath: string,
  name = 'echo',
  timeoutMilliseconds = 29_000,
): RouteSpec => ({
  method,
  resourcePath,
  integration: { functionArn: name, isStreamed: false, timeoutMilliseconds },
});

/** An API without routes. */
export const anApi = (overrides: Partial<ApiSpec> = {}): ApiSpec => ({
  apiId: 'api1234567',
  stage: 'prod',
  binaryMediaTypes: [],
  routes: [],
  gatewayResponses: {},
  ...overrides,
});

/** A response, byte for byte. */
export interface RawAnswer {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  rawHeaders: string[];
  body: Buffer;
}

/** Sends a request without normalizing its path and headers, unlike `fetch`. */
export const send = (
  baseUrl: string,
  path: string,
  options: { method?: string; headers?: Record<string, string | string[]>; body?: string | Buffer } = {},
): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(baseUrl);
    const { method = 'GET', headers = {}, body } = options;
    const request = httpRequest({ hostname, port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          statusCode: response.statusCode ?? 0,
          headers: response.headers,
          rawHeaders: response.rawHeaders,
          body: Buffer.concat(chunks),
        }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });

/** A front door for `api`. One fake stands in for its functions and records their events. */
const openDoor = async (
  api: ApiSpec,
  answer: (event: APIGatewayProxyEvent) => InvocationResult | Promise<InvocationResult>,
  options: Partial<GatewayOptions> = {},
): Promise<FrontDoor & { events: APIGatewayProxyEvent[] }> => {
  const events: APIGatewayProxyEvent[] = [];
  const handle = createGateway({
    api,
    domainName: '127.0.0.1',
    invoke: async (_arn, payload) => {
      events.push(payload as APIGatewayProxyEvent);
      return answer(payload as APIGatewayProxyEvent);
    },
    ...options,
  });
  const door = await startFrontDoor(0);
  door.open({ api: handle });
  return { ...door, events };
};

/**
 * `openDoor` as `open`, and the doors that are closed after the test. `ask` sends one request to an API of `THINGS` whose functions answer so.
 */
export const useDoors = () => {
  const doors: FrontDoor[] = [];
  afterEach(async () => {
    await Promise.all(doors.splice(0).map((door) => door.close()));
  });
  const open: typeof openDoor = async (...args) => {
    const door = await openDoor(...args);
    doors.push(door);
    return door;
  };
  const ask = async (
    answer: Parameters<typeof openDoor>[1],
    path: string,
    options: Parameters<typeof send>[2] = {},
    api: Partial<ApiSpec> = {},
  ) => {
    const { baseUrl, events } = await open(anApi({ routes: THINGS, ...api }), answer);
    return { ...(await send(baseUrl, path, options)), baseUrl, events };
  };
  return { open, ask, doors };
};

/** A function that answers every event with this payload. */
export const answering = (payload: unknown) => () => ({ payload });

/** A function that answers every event with 200. */
export const ok = answering({ statusCode: 200 });

/** The routes of most tests. */
export const THINGS = [aRoute('ANY', '/v1/things'), aRoute('GET', '/v1/things/{thingId}')];
