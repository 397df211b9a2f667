import { randomInt } from 'node:crypto';
import type { Directives } from '../directives.ts';
import type { Tasks, TaskView } from '../tasks.ts';
import { videoSizeOf } from '../video-size.ts';
import type { ArkVideoRequest } from './video-request.ts';

/** What a task of ModelArk is about. */
export type ArkTaskAbout = { request: ArkVideoRequest; directives: Directives; seed: number };

/** How a task of ModelArk ends when it does not fail: with a video (perhaps without its URL), or too late. */
export type ArkTaskResult = { status: 'succeeded'; videoUrl?: string } | { status: 'expired' };

export type ArkTasks = Tasks<ArkTaskAbout, ArkTaskResult>;

/** As the upstream says; the sandbox's own files have one frame a second. */
const FRAMES_PER_SECOND = 24;

const ID_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** An id of ModelArk's form: `cgt-`, the second (UTC here), `-` and five letters or digits. */
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

/** The task object, which a query answers and a callback carries. */
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
