import { outside } from '../world/engine/invocation.ts';
import type { World } from '../world/world.ts';

/** An answer of the API, its body read; 502 and 504 stand for a function that died or took too long. */
export interface Answer {
  status: number;
  body: Record<string, unknown>;
  headers?: Record<string, unknown>;
}

export interface ApiCall {
  /** The name of the function behind the route: `create-generation`. */
  route: string;
  apiKey: string;
  parameters?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  idempotencyKey?: string | undefined;
  headers?: Record<string, string>;
}

/** The routes that list requests, by kind. */
export const LISTS = { image: 'list-generations', video: 'list-videos' };

/** Makes an HTTP call to the API as its gateway hands it on. */
export const callApi = async (world: World, call: ApiCall): Promise<Answer> => {
  const fn = world.functionNamed(call.route);
  const query = Object.entries(call.query ?? {}).map(([name, value]) => [name, [value]]);
  const event = {
    resource: call.route,
    httpMethod: 'POST',
    headers: {
      Authorization: `Bearer ${call.apiKey}`,
      ...call.headers,
      ...(call.idempotencyKey === undefined ? {} : { 'Idempotency-Key': call.idempotencyKey }),
    },
    pathParameters: call.parameters ?? null,
    multiValueQueryStringParameters: Object.fromEntries(query),
    body: call.body === undefined ? null : JSON.stringify(call.body),
    isBase64Encoded: false,
    requestContext: { requestId: 'http' },
  };
  try {
    const answer = (await outside(async () => {
      await world.lambda.meetOutage();
      return world.lambda.run(fn, event);
    })) as { statusCode: number; body: string; headers: Record<string, unknown> };
    const body = JSON.parse(answer.body) as Record<string, unknown>;
    return { status: answer.statusCode, body, headers: answer.headers };
  } catch (error) {
    return { status: (error as Error).name === 'Sandbox.Timedout' ? 504 : 502, body: {} };
  }
};

/** How long a caller waits who is told to slow down: longer than the clocks of two processes are apart. */
const SLOW_DOWN_MS = 5_000;

/** Makes a call again until it is not told to slow down any more, ten times at most. */
export const callPatiently = async (world: World, call: ApiCall): Promise<Answer> => {
  let answer = await callApi(world, call);
  for (let time = 0; answer.status === 429 && time < 10; time++) {
    await world.scheduler.sleep(SLOW_DOWN_MS);
    answer = await callApi(world, call);
  }
  return answer;
};

/** The code of an answer that is an error. */
export const codeOf = ({ body }: Answer): string | undefined =>
  (body.error as { code?: string } | undefined)?.code;
