import { createCallCounter } from '../call-counter.ts';
import { type Directives, parseDirectives } from '../directives.ts';
import type { Handler } from '../http.ts';
import type { Outputs } from '../outputs.ts';
import type { TaskJournal } from '../task-journal.ts';
import { DEFAULT_TASK_SECONDS, type TaskOutcome } from '../tasks.ts';
import { addVideoOutput } from '../video-outputs.ts';
import { invalidParameter, rateQuota, refusalOf, synchronousNotSupported, taskErrorOf } from './errors.ts';
import type { StudioResult, StudioTasks } from './tasks.ts';
import { readVideoRequest, type StudioVideoRequest } from './video-request.ts';

/** As the upstream says; the sandbox's own files have one frame a second. */
const FRAMES_PER_SECOND = 30;

/** The seconds of media given are not counted, as the sandbox does not fetch them. */
const usageOf = ({ seconds, resolution, ratio }: StudioVideoRequest) => ({
  duration: seconds,
  input_video_duration: 0,
  output_video_duration: seconds,
  video_count: 1,
  fps: FRAMES_PER_SECOND,
  SR: Number.parseInt(resolution, 10),
  ratio,
});

/** `POST …/video-generation/video-synthesis`: answers with a task at once. A mix of media that the model does not take fails it. */
export const createVideoHandler = ({
  outputs,
  tasks,
  journal,
}: {
  outputs: Outputs;
  tasks: StudioTasks;
  journal: TaskJournal;
}): Handler => {
  const earlierCalls = createCallCounter();

  const finish = (
    request: StudioVideoRequest,
    directives: Directives,
    endedAt: number,
  ): TaskOutcome<StudioResult> => {
    const { forbiddenMix, prompt } = request;
    const refusal = forbiddenMix === undefined ? refusalOf(directives) : invalidParameter(`${forbiddenMix}.`);
    if (refusal) return { error: taskErrorOf(refusal) };
    const video = directives.isEmpty
      ? {}
      : { video_url: addVideoOutput(outputs, { ...request, directives }, endedAt) };
    return { result: { output: { orig_prompt: prompt, ...video }, usage: usageOf(request) } };
  };

  return ({ body, headers, requestId }) => {
    if (headers['x-dashscope-async'] !== 'enable') throw synchronousNotSupported();
    const request = readVideoRequest(body);
    const { model, prompt } = request;
    const directives = parseDirectives(prompt);
    const { fail, delaySeconds = DEFAULT_TASK_SECONDS, flakyCalls, isForgotten } = directives;
    if (flakyCalls > 0 && earlierCalls.next(`${model}\n${prompt}`) < flakyCalls) throw rateQuota();
    const { id } = tasks.submit({
      about: directives,
      isForgotten,
      seconds: fail === 'timeout' ? Infinity : delaySeconds,
      finish: (endedAt) => finish(request, directives, endedAt),
    });
    journal.opened({ id, upstream: 'modelstudio', model, prompt });
    return { request_id: requestId, output: { task_id: id, task_status: 'PENDING' } };
  };
};
