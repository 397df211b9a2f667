import * as z from 'zod/mini';
import type { RequestKind } from '../../core/ids.ts';
import type {
  CancelAnswer,
  Provider,
  ProviderAnswer,
  ProviderCall,
  ProviderPlan,
  ProviderUsage,
} from '../../core/provider-calls/providers.ts';
import { callsBackFor } from '../../core/provider-names.ts';
import type { StoredRequest } from '../../core/requests/request-rules.ts';
import {
  cancelAnswerOf,
  failedTask,
  failureOf,
  refusedCreation,
  unansweredCreation,
  unknownState,
  unknownTask,
  untoldTask,
  withCallId,
} from '../failures.ts';
import { callProvider, type HttpAnswer } from '../http.ts';
import { optional, optionalNumber, optionalText, readBody, requiredText, saidText } from '../reading.ts';
import { classifyModelStudioError } from './errors.ts';
import { planModelStudioImages } from './images.ts';
import { planModelStudioVideo } from './videos.ts';

const Choices = z.array(
  z.object({
    message: optional(z.object({ content: optional(z.array(z.object({ image: optionalText() }))) })),
  }),
);
const Usage = z.object({
  image_count: optionalNumber(),
  output_image_count: optionalNumber(),
  duration: optionalNumber(),
  input_video_duration: optionalNumber(),
  output_video_duration: optionalNumber(),
});
const ErrorBody = z.object({ code: requiredText(), message: saidText() });
const CreatedTask = z.object({ output: z.object({ task_id: requiredText() }) });
const ImagesBody = z.object({ output: z.object({ choices: Choices }), usage: z.optional(z.unknown()) });
const TaskBody = z.object({
  output: z.object({
    task_status: requiredText(),
    code: optionalText(),
    message: saidText(),
    choices: optional(Choices),
    video_url: optionalText(),
  }),
  usage: z.optional(z.unknown()),
});

/** Alibaba Cloud Model Studio. Images are synchronous or tasks, by model; videos are tasks. It never calls back. */
export class ModelStudio implements Provider {
  readonly id = 'modelstudio';
  readonly baseUrl: string;
  private readonly apiKey: string;

  /** `baseUrl` is the workspace's host: `https://<WorkspaceId>.<region>.maas.aliyuncs.com`. */
  constructor({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) {
    this.baseUrl = baseUrl;
    this.apiKey = apiKey;
  }

  callsBack(kind: RequestKind): boolean {
    return callsBackFor(this.id, kind);
  }

  plan(request: StoredRequest, upstreamModel: string): ProviderPlan {
    return request.kind === 'image'
      ? planModelStudioImages(request, upstreamModel)
      : planModelStudioVideo(request, upstreamModel);
  }

  async submit(call: ProviderCall, signal: AbortSignal): Promise<ProviderAnswer> {
    const headers = { ...this.authorization(), ...call.headers };
    const answer = await callProvider('POST', this.baseUrl + call.path, { headers, body: call.body, signal });
    return withCallId(this.readCreation(answer), answer);
  }

  private readCreation(answer: HttpAnswer): ProviderAnswer {
    if (answer.kind !== 'answered') return unansweredCreation(this.id, answer);
    const task = readBody(CreatedTask, answer.body);
    if (task) return { kind: 'accepted', taskId: task.output.task_id };
    const images = readBody(ImagesBody, answer.body);
    if (images) return produced(images.output.choices, images.usage, 'yes');
    const { code, message } = errorOf(answer) ?? {};
    return refusedCreation(this.id, answer, code, classifyModelStudioError, message);
  }

  async query(taskId: string, signal: AbortSignal): Promise<ProviderAnswer> {
    const answer = await callProvider('GET', this.taskUrl(taskId), {
      headers: this.authorization(),
      signal,
    });
    return withCallId(this.readTask(answer), answer);
  }

  private readTask(answer: HttpAnswer): ProviderAnswer {
    const isTold = answer.kind === 'answered' && answer.status === 200;
    const task = isTold ? readBody(TaskBody, answer.body) : undefined;
    if (!task) return untoldTask(this.id, answer, codeOf(answer), classifyModelStudioError);
    const { task_status: status, code = status, message, choices = [], video_url: video } = task.output;
    switch (status) {
      case 'SUCCEEDED':
        return video === undefined
          ? produced(choices, task.usage)
          : { kind: 'done', outputs: [{ url: video }], ...usageOf(task.usage) };
      case 'FAILED':
      case 'CANCELED':
        return failedTask(this.id, code, classifyModelStudioError, answer, message);
      case 'UNKNOWN':
        return unknownTask();
      case 'PENDING':
      case 'RUNNING':
        return { kind: 'waiting' };
      default:
        return unknownState(this.id, status);
    }
  }

  async cancel(taskId: string, signal: AbortSignal): Promise<CancelAnswer> {
    const answer = await callProvider('POST', `${this.taskUrl(taskId)}/cancel`, {
      headers: this.authorization(),
      signal,
    });
    return cancelAnswerOf(answer, codeOf(answer));
  }

  private taskUrl(taskId: string): string {
    return `${this.baseUrl}/api/v1/tasks/${encodeURIComponent(taskId)}`;
  }

  private authorization(): Record<string, string> {
    return { authorization: `Bearer ${this.apiKey}` };
  }
}

const errorOf = (answer: HttpAnswer): z.output<typeof ErrorBody> | undefined =>
  answer.kind === 'answered' ? readBody(ErrorBody, answer.body) : undefined;

const codeOf = (answer: HttpAnswer): string | undefined => errorOf(answer)?.code;

/** Every image of every choice: a response may hold one choice with many images or many choices. */
const produced = (choices: z.output<typeof Choices>, usage: unknown, taken?: 'yes'): ProviderAnswer => {
  const outputs = choices.flatMap(({ message }) =>
    (message?.content ?? []).flatMap(({ image }) => (image === undefined ? [] : [{ url: image }])),
  );
  if (outputs.length > 0) return { kind: 'done', outputs, ...usageOf(usage) };
  return { kind: 'failed', failure: failureOf('error'), ...(taken && { taken }) };
};

/** Wan 2.7 tells the seconds of the output alone, as `duration`; Wan 3.0 those of input and output as well. */
const usageOf = (usage: unknown): { usage?: ProviderUsage } => {
  const told = readBody(Usage, usage);
  if (!told) return {};
  const images = told.output_image_count ?? told.image_count;
  const inputSeconds = told.input_video_duration;
  const outputSeconds =
    told.output_video_duration ?? (inputSeconds === undefined ? told.duration : undefined);
  return {
    usage: {
      ...(images !== undefined && { images }),
      ...(inputSeconds !== undefined && { inputSeconds }),
      ...(outputSeconds !== undefined && { outputSeconds }),
    },
  };
};
