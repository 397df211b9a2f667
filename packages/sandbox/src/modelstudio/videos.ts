import { type Capacity, createCreationLimiter } from '../capacity.ts';
import { type Directives, parseDirectives } from '../directives.ts';
import { garbled } from '../garbled.ts';
import type { Handler } from '../http.ts';
import type { Inputs } from '../input-files.ts';
import type { Outputs } from '../outputs.ts';
import { heldBack } from '../pretend-work.ts';
import type { TaskJournal } from '../task-journal.ts';
import { DEFAULT_TASK_SECONDS, type TaskOutcome } from '../tasks.ts';
import { addVideoOutput } from '../video-outputs.ts';
import { failureOf, invalidParameter, synchronousNotSupported, taskErrorOf, tooManyCalls } from './errors.ts';
import { inputProblem } from './input-errors.ts';
import type { StudioResult, StudioTasks } from './tasks.ts';
import { readVideoRequest, type StudioVideoRequest } from './video-request.ts';

/** As Model Studio reports it. The sandbox's files have one frame a second. */
const FRAMES_PER_SECOND = 30;

const usageOf = ({ seconds, resolution, ratio }: StudioVideoRequest, inputSeconds: number) => ({
  duration: seconds + inputSeconds,
  input_video_duration: inputSeconds,
  output_video_duration: seconds,
  video_count: 1,
  fps: FRAMES_PER_SECOND,
  SR: Number.parseInt(resolution, 10),
  ratio,
});

/** `POST …/video-generation/video-synthesis`: responds with a task at once. A forbidden combination of media fails the task. */
export const createVideoHandler = ({
  outputs,
  tasks,
  journal,
  now,
  capacity,
}: {
  outputs: Outputs;
  tasks: StudioTasks;
  journal: TaskJournal;
  now: () => number;
  capacity?: Capacity | undefined;
}): Handler => {
  const limiter = createCreationLimiter(now, capacity);

  const finish = (
    request: StudioVideoRequest,
    directives: Directives,
    endedAt: number,
    inputs: Inputs | undefined,
  ): TaskOutcome<StudioResult> => {
    const { forbiddenMix, prompt } = request;
    const failure =
      forbiddenMix === undefined
        ? (inputProblem(inputs) ?? failureOf(directives))
        : invalidParameter(`${forbiddenMix}.`);
    if (failure) return { error: taskErrorOf(failure) };
    const video = directives.isEmpty
      ? {}
      : { video_url: addVideoOutput(outputs, { ...request, directives }, endedAt) };
    return {
      result: {
        output: { orig_prompt: prompt, ...video },
        usage: usageOf(request, directives.usageSeconds ?? inputs?.videoSeconds ?? 0),
      },
    };
  };

  return ({ body, headers, requestId, inputs, signal }) => {
    if (headers['x-dashscope-async'] !== 'enable') throw synchronousNotSupported();
    const request = readVideoRequest(body);
    const { model, prompt } = request;
    const directives = parseDirectives(prompt);
    const { fail, delaySeconds = DEFAULT_TASK_SECONDS, queuedSeconds, isForgotten } = directives;
    const tooMany = limiter.refusalOf({ model, prompt, directives });
    if (tooMany) throw tooManyCalls(tooMany);
    if (capacity?.whenFull === 'refuse' && tasks.isFull(model)) throw tooManyCalls({ reason: 'running' });
    const { id } = tasks.submit({
      lane: model,
      about: directives,
      isForgotten,
      queuedSeconds,
      seconds: fail === 'timeout' ? Infinity : delaySeconds,
      finish: (endedAt) => finish(request, directives, endedAt, inputs),
    });
    journal.add({ id, upstream: 'modelstudio', model, prompt });
    const answer = { request_id: requestId, output: { task_id: id, task_status: 'PENDING' } };
    return heldBack(garbled(answer, 'creation', directives), directives, signal);
  };
};
