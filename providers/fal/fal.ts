import * as z from 'zod/mini';
import type { RequestKind } from '../../core/ids.ts';
import type {
  CancelAnswer,
  Provider,
  ProviderAnswer,
  ProviderCall,
  ProviderPlan,
} from '../../core/provider-calls/providers.ts';
import { callsBackFor } from '../../core/provider-names.ts';
import type { StoredRequest } from '../../core/requests/request-rules.ts';
import {
  cancelAnswerOf,
  failedTask,
  refusedCreation,
  unansweredCreation,
  unknownState,
  unknownTask,
  untoldTask,
  withCallId,
} from '../failures.ts';
import { callProvider, type HttpAnswer } from '../http.ts';
import { optionalText, readBody, requiredText, saidText } from '../reading.ts';
import { falImageInputs } from './images.ts';
import { classifyFalError, submitOutcomeOf } from './outcomes.ts';
import { falErrorOf, readFalResult } from './results.ts';
import { falVideoInput } from './videos.ts';

const Submitted = z.object({ request_id: requiredText() });
const State = z.object({ status: requiredText(), error: saidText(), error_type: optionalText() });
const CancelState = z.object({ status: requiredText() });

/** Result files are copied at once; this long they stay at fal. */
const FILES_KEPT_SECONDS = 86_400;

/** Headers of every submit. fal's own retries and reroutes would call a model's maker again, and perhaps be billed again. */
const SUBMIT_HEADERS = {
  'x-fal-no-retry': '1',
  'x-app-fal-disable-fallback': 'true',
  'x-fal-object-lifecycle-preference': JSON.stringify({ expiration_duration_seconds: FILES_KEPT_SECONDS }),
};

/**
 * fal.ai, by its queue. All calls are tasks that call back, once, at the end. A task's id is its application and its request's id:
 * `alibaba/wan-3.0/<request id>`. Its input is checked when it runs: a wrong field is accepted and fails.
 */
export class Fal implements Provider {
  readonly id = 'fal';
  readonly baseUrl: string;
  private readonly apiKey: string;

  /** `baseUrl` is the queue's: `https://queue.fal.run`. The key is `<id>:<secret>`. */
  constructor({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) {
    this.baseUrl = baseUrl;
    this.apiKey = apiKey;
  }

  callsBack(kind: RequestKind): boolean {
    return callsBackFor(this.id, kind);
  }

  plan(request: StoredRequest, upstreamModel: string, callbackUrl: string): ProviderPlan {
    const inputs =
      request.kind === 'image'
        ? falImageInputs(request, upstreamModel)
        : [falVideoInput(request, upstreamModel)];
    const headers = { ...SUBMIT_HEADERS, 'x-fal-tags': `request=${request.requestId}` };
    const webhook = encodeURIComponent(callbackUrl);
    return {
      mode: 'asynchronous',
      calls: inputs.map(({ endpoint, body }) => ({
        path: `/${endpoint}?fal_webhook=${webhook}`,
        headers,
        body,
      })),
    };
  }

  async submit(call: ProviderCall, signal: AbortSignal): Promise<ProviderAnswer> {
    const headers = { ...this.authorization(), ...call.headers };
    const answer = await callProvider('POST', this.baseUrl + call.path, { headers, body: call.body, signal });
    return withCallId(this.readSubmit(answer, call.path), answer);
  }

  private readSubmit(answer: HttpAnswer, path: string): ProviderAnswer {
    if (answer.kind !== 'answered') return unansweredCreation(this.id, answer);
    const isTaken = answer.status >= 200 && answer.status < 300;
    const task = isTaken ? readBody(Submitted, answer.body) : undefined;
    if (task) return { kind: 'accepted', taskId: `${applicationOf(path)}/${task.request_id}` };
    const error = falErrorOf(answer);
    const told = refusedCreation(this.id, answer, error?.code, classifyFalError, error?.message);
    return told.kind === 'failed' ? { ...told, taken: submitOutcomeOf(answer.status).taken } : told;
  }

  async query(taskId: string, signal: AbortSignal): Promise<ProviderAnswer> {
    const url = this.taskUrl(taskId);
    const answer = await callProvider('GET', `${url}/status`, { headers: this.authorization(), signal });
    const state = this.readState(answer);
    if (state !== 'completed') return withCallId(state, answer);
    const result = await callProvider('GET', url, { headers: this.authorization(), signal });
    return withCallId(readFalResult(result), result);
  }

  /** What a status means. Every request ends as completed, whatever became of it; mostly only its result tells. */
  private readState(answer: HttpAnswer): ProviderAnswer | 'completed' {
    if (answer.kind === 'answered' && answer.status === 404) return unknownTask();
    const isTold = answer.kind === 'answered' && (answer.status === 200 || answer.status === 202);
    const state = isTold ? readBody(State, answer.body) : undefined;
    if (!state) return untoldTask(this.id, answer, falErrorOf(answer)?.code, classifyFalError);
    const { status, error, error_type: code } = state;
    switch (status) {
      case 'IN_QUEUE':
      case 'IN_PROGRESS':
        return { kind: 'waiting' };
      case 'COMPLETED':
        return code === undefined ? 'completed' : failedTask(this.id, code, classifyFalError, answer, error);
      default:
        return unknownState(this.id, status);
    }
  }

  /** Takes a task out of the queue. One that runs is asked to stop, and may go on and be billed. */
  async cancel(taskId: string, signal: AbortSignal): Promise<CancelAnswer> {
    const url = `${this.taskUrl(taskId)}/cancel`;
    const answer = await callProvider('PUT', url, { headers: this.authorization(), signal });
    const isRefused = answer.kind === 'answered' && answer.status >= 400;
    const state = isRefused ? readBody(CancelState, answer.body)?.status : undefined;
    return cancelAnswerOf(answer, state ?? (isRefused ? falErrorOf(answer)?.code : undefined));
  }

  private taskUrl(taskId: string): string {
    const [owner = '', app = '', ...rest] = taskId.split('/');
    const [ownerPart, appPart, id] = [owner, app, rest.join('/')].map(encodeURIComponent);
    return `${this.baseUrl}/${ownerPart}/${appPart}/requests/${id}`;
  }

  private authorization(): Record<string, string> {
    return { authorization: `Key ${this.apiKey}` };
  }
}

/** The owner and application of an endpoint's path: requests are found by these alone. */
const applicationOf = (path: string): string => path.replace(/\?.*$/, '').split('/').slice(1, 3).join('/');
