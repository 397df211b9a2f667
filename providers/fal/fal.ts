import * as z from 'zod/mini';
import type {
  CancelAnswer,
  ProviderAnswer,
  ProviderCall,
  ProviderPlan,
} from '../../core/provider-calls/providers.ts';
import type { StoredRequest } from '../../core/requests/request-rules.ts';
import {
  cancelAnswerOf,
  failedTask,
  refusedCreation,
  unknownState,
  unknownTask,
  untoldTask,
  withCallId,
} from '../failures.ts';
import { type Answered, type HttpAnswer, readBody, requiredText, saidText } from '../http.ts';
import { type Connection, HttpProvider } from '../http-provider.ts';
import {
  ALL_OF_IMAGES,
  ALL_OF_VIDEO,
  FRAMES_ALONE,
  type ImageFields,
  parametersAt,
  type VideoFields,
} from '../taken-fields.ts';
import { taskStateOf } from '../task-states.ts';
import { FAL_ERRORS } from './errors.ts';
import { falImageInputs } from './images.ts';
import { falErrorOf, readFalResult } from './results.ts';
import { falVideoInput } from './videos.ts';

const Submitted = z.object({ request_id: requiredText() });
const State = z.object({ status: requiredText(), error: saidText(), error_type: saidText() });
const CancelState = z.object({ status: requiredText() });

/** Result files are copied at once; this long they stay at fal. */
const FILES_KEPT_SECONDS = 86_400;

/** Headers of every submit. fal's own retries and reroutes would call a model's maker again, and perhaps be billed again. */
const SUBMIT_HEADERS = {
  'x-fal-no-retry': '1',
  'x-app-fal-disable-fallback': 'true',
  'x-fal-object-lifecycle-preference': JSON.stringify({ expiration_duration_seconds: FILES_KEPT_SECONDS }),
};

const IMAGE_WORDS = { seed: 'sent', negativePrompt: 'sent', promptExtend: 'sent' } as const;
const VIDEO_WORDS = { ...IMAGE_WORDS, generateAudio: 'sent' } as const;

/**
 * fal.ai, by its queue. All calls are tasks that call back, once, at the end. A task's id is its application and its request's id:
 * `alibaba/wan-3.0/<request id>`. Its input is checked when it runs: a wrong field is accepted and fails.
 */
export class Fal extends HttpProvider {
  /** The base URL is the queue's: `https://queue.fal.run`. The key is `<id>:<secret>`. */
  constructor(connection: Connection) {
    super(connection, 'fal', 'Key');
  }

  /** Seedream 4.5 alone makes groups; Z-Image has no endpoint for references. */
  imageFields(upstreamModel: string): ImageFields {
    const all = { ...ALL_OF_IMAGES, ...parametersAt(upstreamModel, IMAGE_WORDS) };
    if (upstreamModel.includes('/seedream/v4')) return all;
    const group = { ...all, sequential: 'not taken' } as const;
    return upstreamModel.includes('z-image') ? { ...group, references: 'not taken' } : group;
  }

  videoFields(upstreamModel: string): VideoFields {
    const fields = upstreamModel.endsWith('/wan/v2.7') ? FRAMES_ALONE : ALL_OF_VIDEO;
    return { ...fields, ...parametersAt(upstreamModel, VIDEO_WORDS) };
  }

  protected planTaken(request: StoredRequest, upstreamModel: string, callbackUrl: string): ProviderPlan {
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

  protected readCreation(answer: Answered, { path }: ProviderCall): ProviderAnswer {
    const task = answer.status < 300 ? readBody(Submitted, answer.body) : undefined;
    if (task) return { kind: 'accepted', taskId: `${applicationOf(path)}/${task.request_id}` };
    return refusedCreation(this.id, answer, falErrorOf(answer), FAL_ERRORS);
  }

  /** A completed request tells by its result what became of it: a second call. */
  override async query(taskId: string, signal: AbortSignal): Promise<ProviderAnswer> {
    const path = this.taskPath(taskId);
    const answer = await this.call('GET', `${path}/status`, signal);
    const state = this.readState(answer);
    if (state !== 'completed') return withCallId(state, answer);
    const result = await this.call('GET', path, signal);
    return withCallId(this.readTask(result), result);
  }

  /**
   * The meaning of a status. Every request ends as completed, failed requests included: usually only the result shows the
   * outcome.
   */
  private readState(answer: HttpAnswer): ProviderAnswer | 'completed' {
    const isTold = answer.kind === 'answered' && [200, 202, 404].includes(answer.status);
    const state = isTold ? readBody(State, answer.body) : undefined;
    if (!state) return untoldTask(this.id, answer, falErrorOf(answer), FAL_ERRORS);
    const { status, error: message, error_type: code } = state;
    if (status === 'NOT_FOUND') return unknownTask();
    const ended = taskStateOf(status);
    if (ended === 'unfinished') return { kind: 'waiting' };
    if (ended === undefined) return unknownState(this.id, status);
    if (code === undefined && ended === 'succeeded') return 'completed';
    return failedTask(this.id, { code: code ?? status, message }, FAL_ERRORS, answer);
  }

  protected readTask(answer: HttpAnswer): ProviderAnswer {
    return readFalResult(answer);
  }

  /** Takes a task out of the queue. One that runs is asked to stop, and may go on and be billed. */
  async cancel(taskId: string, signal: AbortSignal): Promise<CancelAnswer> {
    const answer = await this.call('PUT', `${this.taskPath(taskId)}/cancel`, signal);
    const isRefused = answer.kind === 'answered' && answer.status >= 400;
    const state = isRefused ? readBody(CancelState, answer.body)?.status : undefined;
    return cancelAnswerOf(answer, state ?? (isRefused ? falErrorOf(answer)?.code : undefined));
  }

  protected taskPath(taskId: string): string {
    const [owner = '', app = '', ...rest] = taskId.split('/');
    const [ownerPart, appPart, id] = [owner, app, rest.join('/')].map(encodeURIComponent);
    return `/${ownerPart}/${appPart}/requests/${id}`;
  }
}

/** The owner and application of an endpoint's path: requests are found by these alone. */
const applicationOf = (path: string): string => path.replace(/\?.*$/, '').split('/').slice(1, 3).join('/');
