import { randomInt } from 'node:crypto';
import type { Directives } from '../directives.ts';
import { videoSizeOf } from '../media/video-size.ts';
import type { TaskView } from '../tasks.ts';
import type { ArkVideoRequest } from './video-request.ts';

/** What ModelArk stores with a task. */
export type ArkTaskAbout = { request: ArkVideoRequest; directives: Directives; seed: number };

/** The result of a task that did not fail. `videoUrl` is absent under `[empty]`. */
export type ArkTaskResult = { status: 'succeeded'; videoUrl?: string } | { status: 'expired' };

/** As ModelArk reports it. The sandbox's files have one frame a second. */
const FRAMES_PER_SECOND = 24;

const ID_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Creates an id in ModelArk's format: `cgt-`, the time to the second (here UTC), `-` and five letters or digits. */
export const newArkTaskId = (epochMilliseconds: number): string => {
  const second = new Date(epochMilliseconds).toISOString().replace(/\D/g, '').slice(0, 14);
  const suffix = Array.from({ length: 5 }, () => ID_LETTERS[randomInt(ID_LETTERS.length)]).join('');
  return `cgt-${second}-${suffix}`;
};

const statusOf = (task: TaskView<ArkTaskAbout, ArkTaskResult>): string => {
  switch (task.phase) {
    case 'waiting':
      return task.about.directives.statusWord ?? 'queued';
    case 'running':
      return task.about.directives.statusWord ?? 'running';
    case 'succeeded':
      return task.result.status;
    default:
      return task.phase;
  }
};

const unixSeconds = (epochMilliseconds: number) => Math.floor(epochMilliseconds / 1000);

const changedAt = (task: TaskView<ArkTaskAbout, ArkTaskResult>) => {
  if ('endedAt' in task) return task.endedAt;
  return 'startedAt' in task ? task.startedAt : task.submittedAt;
};

const productOf = (task: TaskView<ArkTaskAbout, ArkTaskResult>) => {
  if (task.phase !== 'succeeded' || task.result.status !== 'succeeded') return {};
  const { resolution, ratio, seconds } = task.about.request;
  const { width, height } = videoSizeOf(resolution, ratio);
  const tokens = Math.floor((width * height * FRAMES_PER_SECOND * seconds) / 1024);
  const { videoUrl } = task.result;
  return {
    content: videoUrl === undefined ? {} : { video_url: videoUrl },
    usage: { completion_tokens: tokens, total_tokens: tokens },
  };
};

/** The task object of query responses and callbacks. */
export const renderArkTask = (task: TaskView<ArkTaskAbout, ArkTaskResult>) => {
  const { request, seed } = task.about;
  return {
    id: task.id,
    model: request.model,
    status: statusOf(task),
    error: task.phase === 'failed' ? task.error : null,
    ...productOf(task),
    created_at: unixSeconds(task.submittedAt),
    updated_at: unixSeconds(changedAt(task)),
    seed,
    resolution: request.resolution,
    ratio: request.ratio,
    duration: request.seconds,
    framespersecond: FRAMES_PER_SECOND,
    generate_audio: request.generateAudio,
    service_tier: 'default',
    execution_expires_after: request.expiresAfterSeconds,
    ...(request.safetyIdentifier !== undefined && { safety_identifier: request.safetyIdentifier }),
  };
};
