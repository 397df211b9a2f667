import * as z from 'zod/mini';
import type {
  CancelAnswer,
  Provider,
  ProviderAnswer,
  ProviderCall,
  ProviderPlan,
} from '../../../../core/provider-calls/providers.ts';
import type { ProviderId } from '../../../../core/provider-names.ts';
import type { StoredRequest } from '../../../../core/requests/request-rules.ts';
import {
  cancelAnswerOf,
  type ErrorClass,
  failedTask,
  failureOf,
  refusedCreation,
  unansweredCreation,
  unknownState,
  unknownTask,
  untoldTask,
  withCallId,
} from '../../../../providers/failures.ts';
import { callProvider, type HttpAnswer } from '../../../../providers/http.ts';
import { optional, optionalText, readBody, requiredText } from '../../../../providers/reading.ts';

const Prediction = z.object({
  id: requiredText(),
  status: requiredText(),
  output: optional(z.array(z.string())),
  error: optionalText(),
});
const ErrorBody = z.object({ title: requiredText() });

/**
 * The class of this provider's errors, by the title of a refusal or the code that a prediction's error begins with.
 */
const classify = (status: number | undefined, code: string): ErrorClass => {
  if (/flagged|^E005/i.test(code)) return 'content';
  if (status === 401 || status === 402 || status === 403 || status === 404) return 'access';
  return status === 429 ? 'busy' : 'error';
};

/**
 * The third provider of `docs/add-a-provider.md`, in the style of Replicate: predictions that call back. It is made up, and
 * lives in this test alone.
 */
export class Relay implements Provider {
  readonly id = 'relay' as ProviderId;
  readonly baseUrl: string;
  private readonly apiKey: string;

  constructor({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) {
    this.baseUrl = baseUrl;
    this.apiKey = apiKey;
  }

  callsBack(): boolean {
    return true;
  }

  plan(request: StoredRequest, upstreamModel: string, callbackUrl: string): ProviderPlan {
    const input =
      request.kind === 'video'
        ? { prompt: request.prompt, seconds: request.durationSec, resolution: request.resolution }
        : { prompt: request.prompt, size: request.size, count: request.images };
    const body = { version: upstreamModel, input, webhook: callbackUrl };
    return { mode: 'asynchronous', calls: [{ path: '/predictions', headers: {}, body }] };
  }

  async submit(call: ProviderCall, signal: AbortSignal): Promise<ProviderAnswer> {
    const headers = { ...this.authorization(), ...call.headers };
    const answer = await callProvider('POST', this.baseUrl + call.path, { headers, body: call.body, signal });
    return withCallId(this.readCreation(answer), answer);
  }

  private readCreation(answer: HttpAnswer): ProviderAnswer {
    if (answer.kind !== 'answered') return unansweredCreation(this.id, answer);
    const task = readBody(Prediction, answer.body);
    if (task) return { kind: 'accepted', taskId: task.id };
    return refusedCreation(this.id, answer, codeOf(answer), classify);
  }

  async query(taskId: string, signal: AbortSignal): Promise<ProviderAnswer> {
    const answer = await callProvider('GET', this.taskUrl(taskId), { headers: this.authorization(), signal });
    return withCallId(this.readTask(answer), answer);
  }

  private readTask(answer: HttpAnswer): ProviderAnswer {
    if (answer.kind === 'answered' && answer.status === 404) return unknownTask();
    const isTold = answer.kind === 'answered' && answer.status === 200;
    const task = isTold ? readBody(Prediction, answer.body) : undefined;
    if (!task) return untoldTask(this.id, answer, codeOf(answer), classify);
    const { status, output = [], error = status } = task;
    switch (status) {
      case 'starting':
      case 'processing':
        return { kind: 'waiting' };
      case 'succeeded':
        return output.length > 0
          ? { kind: 'done', outputs: output.map((url) => ({ url })) }
          : { kind: 'failed', failure: failureOf('error') };
      case 'aborted':
        return { kind: 'failed', failure: failureOf('timeout') };
      case 'failed':
      case 'canceled':
        return failedTask(this.id, error, classify, answer);
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
    return `${this.baseUrl}/predictions/${encodeURIComponent(taskId)}`;
  }

  private authorization(): Record<string, string> {
    return { authorization: `Bearer ${this.apiKey}` };
  }
}

const codeOf = (answer: HttpAnswer): string | undefined =>
  answer.kind === 'answered' ? readBody(ErrorBody, answer.body)?.title : undefined;
