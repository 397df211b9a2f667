import * as z from 'zod/mini';
import type {
  CancelAnswer,
  ProviderAnswer,
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
  type ToldError,
  unknownState,
  unknownTask,
  untoldTask,
} from '../../../../providers/failures.ts';
import {
  type Answered,
  type HttpAnswer,
  optional,
  optionalText,
  readBody,
  requiredText,
} from '../../../../providers/http.ts';
import { HttpProvider } from '../../../../providers/http-provider.ts';

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
  if (code.startsWith('E006')) return 'input';
  if (status === 401 || status === 402 || status === 403 || status === 404) return 'access';
  return status === 429 ? 'busy' : 'error';
};

/**
 * The third provider of `docs/add-a-provider.md`, in the style of Replicate: predictions that call back. It is made up, and
 * lives in this test alone.
 */
export class Relay extends HttpProvider {
  readonly id = 'relay' as ProviderId;

  override callsBack(): boolean {
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

  protected readCreation(answer: Answered): ProviderAnswer {
    const task = readBody(Prediction, answer.body);
    if (task) return { kind: 'accepted', taskId: task.id };
    return refusedCreation(this.id, answer, errorOf(answer), classify);
  }

  protected taskPath(taskId: string): string {
    return `/predictions/${encodeURIComponent(taskId)}`;
  }

  protected readTask(answer: HttpAnswer): ProviderAnswer {
    if (answer.kind === 'answered' && answer.status === 404) return unknownTask();
    const isTold = answer.kind === 'answered' && answer.status === 200;
    const task = isTold ? readBody(Prediction, answer.body) : undefined;
    if (!task) return untoldTask(this.id, answer, errorOf(answer)?.code, classify);
    const { status, output = [], error: code = status } = task;
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
        return failedTask(this.id, { code }, classify, answer);
      default:
        return unknownState(this.id, status);
    }
  }

  async cancel(taskId: string, signal: AbortSignal): Promise<CancelAnswer> {
    const answer = await this.call('POST', `${this.taskPath(taskId)}/cancel`, signal);
    return cancelAnswerOf(answer, errorOf(answer)?.code);
  }
}

/** The error in a body, by its title. */
const errorOf = (answer: HttpAnswer): ToldError | undefined => {
  const told = answer.kind === 'answered' ? readBody(ErrorBody, answer.body) : undefined;
  return told && { code: told.title };
};
