import { answerCall, type CallAnswer, type IncomingCall } from '../answer-call.ts';
import type { Callbacks } from '../callbacks.ts';
import { capacityOf } from '../capacity.ts';
import type { Media } from '../media/media.ts';
import { type AbsentOutput, createOutputs, type StoredOutput } from '../outputs.ts';
import { createTaskJournal } from '../task-journal.ts';
import { createUpstreams, upstreamOf } from '../upstreams.ts';
import { fromToken, type MadeRequest } from './token.ts';

/** The upstreams without a server. Ids and file names come from a token, so another world makes the same ones. */
export type World = {
  call(call: Omit<IncomingCall, 'signal'>, token: string): Promise<CallAnswer | undefined>;
  findFile(name: string): StoredOutput | AbsentOutput;
  /** Sets the clock, in epoch milliseconds. */
  setTime(now: number): void;
};

/** What every world of a function has in common. */
export type WorldOptions = {
  apiKey: string;
  outputsUrl: string;
  media: Media;
  maxRunning?: number | undefined;
};

/** A function is frozen once it has answered, and cannot call back later. */
const NO_CALLBACKS: Callbacks = { schedule: () => undefined, close: () => undefined };

/** A world in which nothing has happened yet. One call at a time. */
export const createWorld = ({ apiKey, outputsUrl, media, maxRunning }: WorldOptions): World => {
  let time = 0;
  let naming = { token: '', files: 0 };
  const now = () => time;
  const newName = () => `${naming.token}/${naming.files++}`;
  const newTaskId = () => naming.token;
  const journal = createTaskJournal();
  const outputs = createOutputs({ baseUrl: outputsUrl, now, media, newName });
  const capacity = maxRunning === undefined ? {} : capacityOf(maxRunning);
  const parts = { apiKey, outputs, journal, now, capacity, newTaskId };
  const upstreams = createUpstreams({ ...parts, callbacks: NO_CALLBACKS });
  return {
    call(call, token) {
      naming = { token, files: 0 };
      return answerCall(upstreamOf(call.path, upstreams), { ...call, signal: new AbortController().signal });
    },
    findFile: (name) => outputs.find(name),
    setTime(now) {
      time = now;
    },
  };
};

/** The `Authorization` of a call to a path. */
export const authorizationOf = (path: string, apiKey: string): string =>
  `${path.startsWith('/fal/') ? 'Key' : 'Bearer'} ${apiKey}`;

/** Directives that took effect when the request was made, and would again, and those that count queries. */
const SPENT = /\[(?:(?:flaky|unavailable)=\d+|busy=(?:all|\d+)|(?:busy-for|hang)=\d+(?:\.\d+)?)\]/g;
/** Those of a synchronous call also waited. */
const SPENT_SYNCHRONOUS = /\[(?:flaky=\d+|busy=(?:all|\d+)|(?:busy-for|delay|hang)=\d+(?:\.\d+)?)\]/g;

/** A directive that does nothing: a prompt of spent directives alone stays one, which the upstreams require. */
const NOTHING = '[flaky=0]';

const withoutSpent = ({ body, async: asynchronous, path }: MadeRequest): string => {
  const isTask = asynchronous !== undefined || path.endsWith('/tasks') || path.startsWith('/fal/');
  return JSON.stringify(body).replaceAll(isTask ? SPENT : SPENT_SYNCHRONOUS, NOTHING);
};

const bodyOf = async function* (text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
};

/**
 * A world at an instant in which the request of a token was made. Undefined when the text is no token, or its request is
 * refused.
 */
export const replay = async (
  token: string,
  options: WorldOptions,
  now: number,
): Promise<World | undefined> => {
  const made = fromToken(token);
  if (!made) return undefined;
  const world = createWorld(options);
  world.setTime(made.at);
  const headers = {
    authorization: authorizationOf(made.path, options.apiKey),
    ...(made.async !== undefined && { 'x-dashscope-async': made.async }),
  };
  const call = { method: 'POST', path: made.path, headers, body: bodyOf(withoutSpent(made)) };
  const answer = await world.call(call, token);
  world.setTime(now);
  return answer?.status === 200 ? world : undefined;
};
