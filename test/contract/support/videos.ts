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

/** The fields of a video's record that the tests read. */
export interface VideoRecord extends Omit<AnyRecord, 'images'> {
  videos?: VideoItem[];
}

export const VIDEO_MODELS = ['xW2.7S', 'xW3.0s', 'xW3.0sPro'] as const;
export type VideoModel = (typeof VIDEO_MODELS)[number];

/** The cheapest settings of each model, besides a duration of two seconds. */
const SMALLEST: Record<VideoModel, Record<string, unknown>> = {
  'xW2.7S': { resolution: '720p', image: 'https://example.com/first.png' },
  'xW3.0s': { resolution: '480p' },
  'xW3.0sPro': { resolution: '1080p' },
};

/** The smallest body that creates a video; its task is done at the first query. */
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

/** A body that is accepted and then refused by the provider, for tests that need no video. */
export const anUnfilmedVideo = (body: Record<string, unknown> = {}): Record<string, unknown> =>
  aVideo({ prompt: unique('[delay=0][fail=content_policy]'), ...body });

/** Sends a creation of a video. */
export const createVideo = (
  caller: Caller,
  body: unknown,
  headers?: Record<string, string>,
): Promise<Answer<VideoRecord>> => caller.post<VideoRecord>('/v1/videos', body, headers);

/** Creates a video and returns the accepted record. Throws with the refusal otherwise. */
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

/** The record of a video in its terminal state. Like a caller's, its reads query the provider. */
export const settledVideo = (caller: Caller, requestId: string): Promise<VideoRecord> =>
  eventually(
    () => readVideo(caller, requestId),
    ({ status }) => !UNFINISHED.has(status),
  );

/** Creates a video and waits for its terminal state. */
export const finishedVideo = async (
  caller: Caller,
  body: Record<string, unknown> = {},
): Promise<VideoRecord> => {
  const { requestId } = await acceptedVideo(caller, body);
  return settledVideo(caller, requestId);
};

/** A provider's task as the sandbox recorded it. */
export interface UpstreamTask {
  id: string;
  upstream: string;
  /** The callback URL it was given. */
  callbackUrl?: string;
  /** How often the service queried it. */
  queries: number;
  /** Its callbacks so far: the status each reported, and the answer or failure. */
  callbacks: { status: string; answer: number | string }[];
}

/** The only task whose prompt ends with the given prompt; undefined before the task exists. */
export const findUpstreamTask = async (
  { sandboxUrl }: Pick<LocalService, 'sandboxUrl'>,
  { prompt = '' }: { prompt?: string },
): Promise<UpstreamTask | undefined> => {
  const response = await fetch(`${sandboxUrl}/sandbox/tasks?prompt=${encodeURIComponent(prompt)}`);
  const { tasks } = (await response.json()) as { tasks: UpstreamTask[] };
  if (tasks.length > 1) throw new Error(`${tasks.length} tasks have the prompt ${prompt}`);
  return tasks[0];
};

/** The task of a request, once its provider has it and `done` holds. */
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
