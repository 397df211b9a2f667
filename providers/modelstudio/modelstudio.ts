import * as z from 'zod/mini';
import type {
  Provider,
  ProviderAnswer,
  ProviderCall,
  ProviderPlan,
} from '../../core/provider-calls/providers.ts';
import type { StoredRequest } from '../../core/requests/request-rules.ts';
import { failureOf, refusal, unanswered, unknownState, unknownTask, unreadable } from '../failures.ts';
import { callProvider, type HttpAnswer } from '../http.ts';
import { classifyModelStudioError } from './errors.ts';
import { planModelStudioImages } from './images.ts';
import { planModelStudioVideo } from './videos.ts';

const Choices = z.array(
  z.object({ message: z.object({ content: z.array(z.object({ image: z.optional(z.string()) })) }) }),
);
const ErrorBody = z.object({ code: z.string() });
const TaskBody = z.object({ output: z.object({ task_id: z.string(), task_status: z.string() }) });
const ImagesBody = z.object({ output: z.object({ choices: Choices }) });
const QueryBody = z.object({
  output: z.object({
    task_status: z.string(),
    code: z.optional(z.string()),
    choices: z.optional(Choices),
    video_url: z.optional(z.string()),
  }),
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

  callsBack(): boolean {
    return false;
  }

  plan(request: StoredRequest, upstreamModel: string): ProviderPlan {
    return request.kind === 'image'
      ? planModelStudioImages(request, upstreamModel)
      : planModelStudioVideo(request, upstreamModel);
  }

  async submit(call: ProviderCall, signal: AbortSignal): Promise<ProviderAnswer> {
    const headers = { ...this.authorization(), ...call.headers };
    const answer = await callProvider('POST', this.baseUrl + call.path, { headers, body: call.body, signal });
    if (answer.kind !== 'answered') return unanswered(this.id, answer);
    const task = TaskBody.safeParse(answer.body);
    if (task.success) return { kind: 'accepted', taskId: task.data.output.task_id };
    const images = ImagesBody.safeParse(answer.body);
    if (images.success) return produced(images.data.output.choices);
    const error = ErrorBody.safeParse(answer.body);
    if (!error.success) return unreadable(this.id, answer, classifyModelStudioError);
    return this.refused(answer, error.data.code);
  }

  async query(taskId: string, signal: AbortSignal): Promise<ProviderAnswer> {
    const url = `${this.baseUrl}/api/v1/tasks/${encodeURIComponent(taskId)}`;
    const answer = await callProvider('GET', url, { headers: this.authorization(), signal });
    const task =
      answer.kind === 'answered' && answer.status === 200 ? QueryBody.safeParse(answer.body) : undefined;
    if (!task?.success) return { kind: 'busy', reason: 'the task query was not answered' };
    const { task_status: status, code = status, choices = [], video_url: video } = task.data.output;
    switch (status) {
      case 'SUCCEEDED':
        return video ? { kind: 'done', outputs: [{ url: video }] } : produced(choices);
      case 'FAILED':
      case 'CANCELED': {
        const errorClass = classifyModelStudioError(undefined, code);
        return refusal(this.id, errorClass, { upstreamCode: code });
      }
      case 'UNKNOWN':
        return unknownTask();
      case 'PENDING':
      case 'RUNNING':
        return { kind: 'waiting' };
      default:
        return unknownState(this.id, status);
    }
  }

  private authorization(): Record<string, string> {
    return { authorization: `Bearer ${this.apiKey}` };
  }

  private refused(
    { status, retryAfterSeconds }: HttpAnswer & { kind: 'answered' },
    upstreamCode: string,
  ): ProviderAnswer {
    return refusal(this.id, classifyModelStudioError(status, upstreamCode), {
      status,
      upstreamCode,
      retryAfterSeconds,
    });
  }
}

/** Every image of every choice: a response may hold one choice with many images or many choices. */
const produced = (choices: z.infer<typeof Choices>): ProviderAnswer => {
  const outputs = choices.flatMap(({ message }) =>
    message.content.flatMap(({ image }) => (image === undefined ? [] : [{ url: image }])),
  );
  return outputs.length > 0 ? { kind: 'done', outputs } : { kind: 'failed', failure: failureOf('error') };
};
