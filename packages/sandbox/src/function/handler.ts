import type { CallAnswer } from '../answer-call.ts';
import type { Media } from '../media/media.ts';
import { fromToken, toToken } from './token.ts';
import { authorizationOf, createWorld, replay, type WorldOptions } from './world.ts';

/** What is used of the event of a Lambda function URL. */
export type FunctionUrlEvent = {
  rawPath: string;
  headers: Record<string, string | undefined>;
  requestContext: { domainName: string; http: { method: string } };
  body?: string;
  isBase64Encoded: boolean;
};

/** The result that a function URL turns into HTTP. */
export type FunctionUrlResult = {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  isBase64Encoded: boolean;
};

const OUTPUTS_PATH = '/outputs/';
const WEBHOOKS_PATH = '/sandbox/webhooks';
const TASK =
  /^\/(?:api\/v3\/contents\/generations\/tasks|api\/v1\/tasks|fal\/[^/]+\/[^/]+\/requests)\/(?<id>[^/]+)(?:\/status)?$/;
const FILE = /^(?<token>[^/]+)\/\d+\.\w+$/;
/** Of the 6 MB that Lambda lets through, base64 leaves three quarters. */
const MAX_FILE_BYTES = 4_500_000;

const text = (statusCode: number, body = '', headers: Record<string, string> = {}): FunctionUrlResult => ({
  statusCode,
  headers,
  body,
  isBase64Encoded: false,
});

const xml = (statusCode: number, code: string): FunctionUrlResult =>
  text(statusCode, `<Error><Code>${code}</Code></Error>`, { 'Content-Type': 'application/xml' });

const sent = (answer: CallAnswer | undefined): FunctionUrlResult =>
  answer === undefined
    ? text(500)
    : text(answer.status, JSON.stringify(answer.body), {
        'Content-Type': 'application/json; charset=utf-8',
        ...answer.headers,
      });

/**
 * The sandbox as a Lambda function behind a function URL, without any state. The id of a task and the name of a file
 * contain the compressed creation request; a later call replays the request at its original time, in a separate
 * world. Files are made by `media` whenever they are fetched. There are no callbacks, and `[flaky]` and `maxRunning`
 * count in each instance of the function.
 */
export const createHandler = ({
  apiKey,
  media,
  maxRunning,
  now = Date.now,
}: {
  apiKey: string;
  media: Media;
  /** The most tasks of a model at once; others are refused. Default: any number. */
  maxRunning?: number;
  now?: () => number;
}): ((event: FunctionUrlEvent) => Promise<FunctionUrlResult>) => {
  const liveWorlds = new Map<string, ReturnType<typeof createWorld>>();

  const worldAt = (options: WorldOptions) => {
    const found = liveWorlds.get(options.outputsUrl) ?? createWorld(options);
    liveWorlds.set(options.outputsUrl, found);
    return found;
  };

  const sendFile = async (name: string, options: WorldOptions, method: string) => {
    const { token = '' } = FILE.exec(name)?.groups ?? {};
    const world = await replay(token, options, now());
    if (!world) return xml(404, 'NoSuchKey');
    await queryTask(world, token, apiKey);
    const file = world.findFile(name);
    if ('status' in file) return xml(file.status, 'NoSuchKey');
    const content = await file.read();
    if (content.sizeBytes > MAX_FILE_BYTES) return xml(500, 'FileTooLargeForLambda');
    const headers = { 'Content-Type': file.contentType, ETag: file.etag };
    if (method === 'HEAD') return text(200, '', headers);
    const bytes = Buffer.concat([...content.chunks()]);
    return { statusCode: 200, headers, body: bytes.toString('base64'), isBase64Encoded: true };
  };

  return async ({ rawPath: path, headers, requestContext, body = '', isBase64Encoded }) => {
    const { method } = requestContext.http;
    const { host = requestContext.domainName, 'x-forwarded-proto': protocol = 'https' } = headers;
    const outputsUrl = `${protocol}://${host}/outputs`;
    const options = { apiKey, media, maxRunning, outputsUrl };
    if (path === WEBHOOKS_PATH) return text(method === 'POST' ? 204 : 405);
    if (path.startsWith(OUTPUTS_PATH)) {
      if (method !== 'GET' && method !== 'HEAD') return xml(404, 'NoSuchKey');
      return sendFile(path.slice(OUTPUTS_PATH.length), options, method);
    }
    const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
    const { id } = (method === 'GET' ? TASK.exec(path)?.groups : undefined) ?? {};
    const replayed = id === undefined ? undefined : await replay(id, options, now());
    const world = replayed ?? worldAt(options);
    world.setTime(now());
    const token = id ?? tokenOf(path, headers, bytes, now());
    const call = { method, path, headers: { ...headers }, body: chunksOf(bytes) };
    return sent(await world.call(call, token));
  };
};

/** Lets the upstream finish the task of a token, which adds its files. Does nothing for other requests. */
const queryTask = async (
  world: ReturnType<typeof createWorld>,
  token: string,
  apiKey: string,
): Promise<void> => {
  const { path = '' } = fromToken(token) ?? {};
  const headers = { authorization: authorizationOf(path, apiKey) };
  await world.call(
    { method: 'GET', path: tasksOf(path) + token, headers, body: chunksOf(Buffer.alloc(0)) },
    token,
  );
};

/** Where the tasks are that calls to a path make. */
const tasksOf = (path: string): string => {
  if (path.startsWith('/api/v1/')) return '/api/v1/tasks/';
  const [, fal] = /^(\/fal\/[^/]+\/[^/]+)\//.exec(path) ?? [];
  return fal === undefined ? '/api/v3/contents/generations/tasks/' : `${fal}/requests/`;
};

const tokenOf = (path: string, headers: FunctionUrlEvent['headers'], bytes: Buffer, at: number): string => {
  const asynchronous = headers['x-dashscope-async'];
  return toToken({
    path,
    at,
    body: parsed(bytes),
    ...(asynchronous !== undefined && { async: asynchronous }),
  });
};

/** The body as an object; empty when the upstream will refuse it. */
const parsed = (bytes: Buffer): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
};

const chunksOf = async function* (bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 0) yield bytes;
};
