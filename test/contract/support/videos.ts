import type { Answer } from './answers.ts';
import { type AnyRecord, type Caller, eventually, unique } from './client.ts';
import type { LocalService } from './local-service.ts';

/** A video as a succeeded record shows it. */
export interface VideoItem {
  id: string;
  duration: number;
  resolution: string;
  expiresAt: string;
  url?: string;
  error?: { code: string };
}

/** A record of a request for a video, as far as the tests look into it. */
export interface VideoRecord extends Omit<AnyRecord, 'images'> {
  videos?: VideoItem[];
}

export const VIDEO_MODELS = ['xW2.7S', 'xW3.0s', 'xW3.0sPro'] as const;
export type VideoModel = (typeof VIDEO_MODELS)[number];

/** What each model takes least work for, beside the two seconds they all take. */
const SMALLEST: Record<VideoModel, Record<string, unknown>> = {
  'xW2.7S': { resolution: '720p', image: 'https://example.com/first.png' },
  'xW3.0s': { resolution: '480p' },
  'xW3.0sPro': { resolution: '1080p' },
};

/** The smallest body that creates a video with a model; its task is done when it is first asked for. */
export const aVideo = ({
  model = 'xW3.0sPro',
  ...body
}: Record<string, unknown> = {}): Record<string, unknown> => ({
  model,
  prompt: unique('[delay=0]'),
  endUserEmail: 'ada@example.com',
  durationSec: 2,
  ...SMALLEST[model as VideoModel],
  ...body,
});

/** One that is accepted and then refused by the upstream: for tests of acceptance, which need no film. */
export const anUnfilmedVideo = (body: Record<string, unknown> = {}): Record<string, unknown> =>
  aVideo({ prompt: unique('[delay=0][fail=content_policy]'), ...body });

/** Sends a creation of a video. */
export const createVideo = (
  caller: Caller,
  body: unknown,
  headers?: Record<string, string>,
): Promise<Answer<VideoRecord>> => caller.post<VideoRecord>('/v1/videos', body, headers);

/** Creates a video and gives the accepted record. Throws with the refusal when it is not accepted. */
export const acceptedVideo = async (
  caller: Caller,
  body: Record<string, unknown> = {},
): Promise<VideoRecord> => {
  const answer = await createVideo(caller, aVideo(body));
  if (answer.status !== 202) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};

/** The path at which a video is read. */
export const videoPath = (requestId: string): string => `/v1/videos/${requestId}`;

/** The record of a video as it reads now. */
export const readVideo = async (caller: Caller, requestId: string): Promise<VideoRecord> =>
  (await caller.get<VideoRecord>(videoPath(requestId))).body;

const UNFINISHED = new Set(['queued', 'processing']);

/** The record of a video once it is terminal. Its reads ask the provider, as every caller's do. */
export const settledVideo = (caller: Caller, requestId: string): Promise<VideoRecord> =>
  eventually(
    () => readVideo(caller, requestId),
    ({ status }) => !UNFINISHED.has(status),
  );

/** A video, from its creation to its end. */
export const finishedVideo = async (
  caller: Caller,
  body: Record<string, unknown> = {},
): Promise<VideoRecord> => {
  const { requestId } = await acceptedVideo(caller, body);
  return settledVideo(caller, requestId);
};

/** What became of an upstream's task, as the sandbox noted it. */
export interface UpstreamTask {
  id: string;
  upstream: string;
  /** What it was asked to call back at. */
  callbackUrl?: string;
  /** How often the service asked for it. */
  queries: number;
  /** The callbacks that were answered or failed: the status each told of, and the answer to it. */
  callbacks: { status: string; answer: number | string }[];
}

/** The only task of the upstreams whose prompt ends like this; undefined before there is one. */
export const findUpstreamTask = async (
  { sandboxUrl }: Pick<LocalService, 'sandboxUrl'>,
  { prompt = '' }: { prompt?: string },
): Promise<UpstreamTask | undefined> => {
  const response = await fetch(`${sandboxUrl}/sandbox/tasks?prompt=${encodeURIComponent(prompt)}`);
  const { tasks } = (await response.json()) as { tasks: UpstreamTask[] };
  if (tasks.length > 1) throw new Error(`${tasks.length} tasks have the prompt ${prompt}`);
  return tasks[0];
};

/** The task of a request, once the upstream has it and `done` holds. */
export const upstreamTask = async (
  caller: Caller,
  record: { prompt?: string },
  done: (task: UpstreamTask) => boolean = () => true,
): Promise<UpstreamTask> => {
  const task = await eventually(
    () => findUpstreamTask(caller.service, record),
    (found) => found !== undefined && done(found),
  );
  if (!task) throw new Error('There is no task.');
  return task;
};
