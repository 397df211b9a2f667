import * as z from 'zod/mini';
import type { RequestKind } from '../../core/ids.ts';
import type {
  CancelAnswer,
  Provider,
  ProviderAnswer,
  ProviderCall,
  ProviderOutput,
  ProviderPlan,
} from '../../core/provider-calls/providers.ts';
import { callsBackFor } from '../../core/provider-names.ts';
import type { StoredRequest } from '../../core/requests/request-rules.ts';
import {
  cancelAnswerOf,
  failureOf,
  refusedCreation,
  unansweredCreation,
  untoldTask,
  upstreamError,
  withCallId,
} from '../failures.ts';
import { callProvider, type HttpAnswer } from '../http.ts';
import { optional, optionalNumber, optionalText, readBody, requiredText, saidText } from '../reading.ts';
import { classifyArkError } from './errors.ts';
import { planArkImages } from './images.ts';
import { planArkVideo, readArkTask, TASKS_PATH } from './videos.ts';

const ErrorBody = z.object({ error: z.object({ code: requiredText(), message: saidText() }) });
const ImagesBody = z.object({
  data: z.array(
    z.object({
      url: optionalText(),
      error: optional(z.object({ code: optionalText(), message: saidText() })),
    }),
  ),
});
const ImagesUsage = z.object({ usage: z.object({ generated_images: optionalNumber() }) });
type ImageItem = z.output<typeof ImagesBody>['data'][number];

const CreatedTask = z.object({ id: requiredText() });

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
    return callsBackFor(this.id, kind);
  }

  plan(request: StoredRequest, upstreamModel: string, callbackUrl: string): ProviderPlan {
    return request.kind === 'image'
      ? planArkImages(request, upstreamModel)
      : planArkVideo(request, upstreamModel, callbackUrl);
  }

  async submit(call: ProviderCall, signal: AbortSignal): Promise<ProviderAnswer> {
    const headers = { ...this.authorization(), ...call.headers };
    const answer = await callProvider('POST', this.baseUrl + call.path, { headers, body: call.body, signal });
    return withCallId(this.readCreation(answer), answer);
  }

  private readCreation(answer: HttpAnswer): ProviderAnswer {
    if (answer.kind !== 'answered') return unansweredCreation(this.id, answer);
    const { status, body } = answer;
    const task = status === 200 ? readBody(CreatedTask, body) : undefined;
    if (task) return { kind: 'accepted', taskId: task.id };
    const images = status === 200 ? imagesOf(body) : undefined;
    // Without any item, the error is at the top level.
    if (!images || (images.length === 0 && codeOf(answer) !== undefined)) {
      const { code, message } = errorOf(answer) ?? {};
      return refusedCreation(this.id, answer, code, classifyArkError, message);
    }
    const outputs = images.map(toOutput);
    if (!outputs.some((output) => 'url' in output)) return noneProduced(outputs, images);
    const used = readBody(ImagesUsage, body)?.usage.generated_images;
    return { kind: 'done', outputs, ...(used !== undefined && { usage: { images: used } }) };
  }

  async query(taskId: string, signal: AbortSignal): Promise<ProviderAnswer> {
    const answer = await callProvider('GET', this.taskUrl(taskId), {
      headers: this.authorization(),
      signal,
    });
    const told = readArkTask(answer) ?? untoldTask(this.id, answer, codeOf(answer), classifyArkError);
    return withCallId(told, answer);
  }

  /**
   * Cancels a queued task. The same call deletes the record of a finished task, and is refused for a running
   * one.
   */
  async cancel(taskId: string, signal: AbortSignal): Promise<CancelAnswer> {
    const answer = await callProvider('DELETE', this.taskUrl(taskId), {
      headers: this.authorization(),
      signal,
    });
    return cancelAnswerOf(answer, codeOf(answer));
  }

  private taskUrl(taskId: string): string {
    return `${this.baseUrl}${TASKS_PATH}/${encodeURIComponent(taskId)}`;
  }

  private authorization(): Record<string, string> {
    return { authorization: `Bearer ${this.apiKey}` };
  }
}

const errorOf = (answer: HttpAnswer): z.output<typeof ErrorBody>['error'] | undefined =>
  answer.kind === 'answered' ? readBody(ErrorBody, answer.body)?.error : undefined;

const codeOf = (answer: HttpAnswer): string | undefined => errorOf(answer)?.code;

/** The items of an image answer; undefined when none of them is in a form that was asked for. */
const imagesOf = (body: unknown): ImageItem[] | undefined => {
  const items = readBody(ImagesBody, body)?.data;
  return items?.length === 0 || items?.some(({ url, error }) => url ?? error) ? items : undefined;
};

const toOutput = ({ url, error }: ImageItem): ProviderOutput =>
  url === undefined
    ? { failure: failureOf(error?.code === undefined ? 'error' : classifyArkError(undefined, error.code)) }
    : { url };

/** The provider took the call and made nothing of it. */
const noneProduced = (outputs: ProviderOutput[], images: readonly ImageItem[]): ProviderAnswer => {
  const failures = outputs.flatMap((output) => ('failure' in output ? [output.failure] : []));
  const decisive = failures.find(({ code }) => code === 'content_policy') ?? failures[0];
  const { code, message } = images.find(({ error }) => error?.code !== undefined)?.error ?? {};
  const upstream = code === undefined ? {} : { upstream: upstreamError(code, message) };
  return { kind: 'failed', failure: decisive ?? failureOf('error'), taken: 'yes', ...upstream };
};
