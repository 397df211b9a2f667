import * as z from 'zod/mini';
import type { RequestKind } from '../../core/ids.ts';
import type {
  Provider,
  ProviderAnswer,
  ProviderCall,
  ProviderOutput,
  ProviderPlan,
} from '../../core/provider-calls/providers.ts';
import type { StoredRequest } from '../../core/requests/request-rules.ts';
import { failureOf, refusal, unanswered, unreadable } from '../failures.ts';
import { callProvider, type HttpAnswer } from '../http.ts';
import { classifyArkError } from './errors.ts';
import { planArkImages } from './images.ts';
import { planArkVideo, readArkTask, TASKS_PATH } from './videos.ts';

const ArkError = z.object({ code: z.string(), message: z.optional(z.string()) });
const ErrorBody = z.object({ error: ArkError });
const ImagesBody = z.object({
  data: z.array(z.union([z.object({ url: z.string() }), z.object({ error: ArkError })])),
});

const CreatedTask = z.object({ id: z.string().check(z.minLength(1)) });

/** BytePlus ModelArk. Images are synchronous calls, videos are tasks that call back. */
export class ModelArk implements Provider {
  readonly id = 'modelark';
  readonly baseUrl: string;
  private readonly apiKey: string;

  /** `baseUrl` ends with the API version: `https://ark.<region>.bytepluses.com/api/v3`. */
  constructor({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) {
    this.baseUrl = baseUrl;
    this.apiKey = apiKey;
  }

  callsBack(kind: RequestKind): boolean {
    return kind === 'video';
  }

  plan(request: StoredRequest, upstreamModel: string, callbackUrl: string): ProviderPlan {
    return request.kind === 'image'
      ? planArkImages(request, upstreamModel)
      : planArkVideo(request, upstreamModel, callbackUrl);
  }

  async submit(call: ProviderCall, signal: AbortSignal): Promise<ProviderAnswer> {
    const headers = { ...this.authorization(), ...call.headers };
    const answer = await callProvider('POST', this.baseUrl + call.path, { headers, body: call.body, signal });
    if (answer.kind !== 'answered') return unanswered(this.id, answer);
    if (answer.status !== 200) return this.refused(answer);
    const task = CreatedTask.safeParse(answer.body);
    if (task.success) return { kind: 'accepted', taskId: task.data.id };
    const images = ImagesBody.safeParse(answer.body);
    if (!images.success) return this.refused(answer);
    const outputs = images.data.data.map(toOutput);
    // Without any item, the error is at the top level.
    if (outputs.length === 0 && ErrorBody.safeParse(answer.body).success) {
      return this.refused(answer);
    }
    return outputs.some((output) => 'url' in output) ? { kind: 'done', outputs } : noneProduced(outputs);
  }

  async query(taskId: string, signal: AbortSignal): Promise<ProviderAnswer> {
    const url = `${this.baseUrl}${TASKS_PATH}/${encodeURIComponent(taskId)}`;
    return readArkTask(await callProvider('GET', url, { headers: this.authorization(), signal }));
  }

  private authorization(): Record<string, string> {
    return { authorization: `Bearer ${this.apiKey}` };
  }

  private refused(answer: HttpAnswer & { kind: 'answered' }): ProviderAnswer {
    const { status, retryAfterSeconds } = answer;
    const error = ErrorBody.safeParse(answer.body);
    if (!error.success) return unreadable(this.id, answer, classifyArkError);
    const upstreamCode = error.data.error.code;
    return refusal(this.id, classifyArkError(status, upstreamCode), {
      status,
      upstreamCode,
      retryAfterSeconds,
    });
  }
}

const toOutput = (item: { url: string } | { error: { code: string } }): ProviderOutput =>
  'url' in item ? { url: item.url } : { failure: failureOf(classifyArkError(undefined, item.error.code)) };

const noneProduced = (outputs: ProviderOutput[]): ProviderAnswer => {
  const failures = outputs.flatMap((output) => ('failure' in output ? [output.failure] : []));
  const decisive = failures.find(({ code }) => code === 'content_policy') ?? failures[0];
  return { kind: 'failed', failure: decisive ?? failureOf('error') };
};
