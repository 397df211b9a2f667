import { randomUUID } from 'node:crypto';
import { createCallCounter } from '../call-counter.ts';
import type { Callbacks } from '../callbacks.ts';
import { type Capacity, type CreationLimiter, createCreationLimiter } from '../capacity.ts';
import { type Directives, parseDirectives } from '../directives.ts';
import { garbled } from '../garbled.ts';
import { type Handler, Reply, type Upstream } from '../http.ts';
import { addImageOutput } from '../image-outputs.ts';
import { type CheckInputs, type Inputs, takeAllInputs } from '../input-files.ts';
import { filesOfFal } from '../named-files.ts';
import type { Outputs } from '../outputs.ts';
import { heldBack } from '../pretend-work.ts';
import type { TaskJournal } from '../task-journal.ts';
import { createTasks, DEFAULT_TASK_SECONDS, type Tasks, type TaskView } from '../tasks.ts';
import { addVideoOutput } from '../video-outputs.ts';
import { type FalWork, hasApplication, workOf } from './endpoints.ts';
import * as errors from './errors.ts';
import { inputError } from './input-errors.ts';
import type { FalSigning } from './signing.ts';

/** Results are kept for a month, as payloads are stored. */
const TASK_RETENTION_SECONDS = 30 * 24 * 60 * 60;

const PREFIX = '/fal/';
const KEYS_PATH = `${PREFIX}.well-known/jwks.json`;
const REQUEST = '^/fal/(?<app>[^/]+/[^/]+)/requests/(?<id>[^/]+)';

type About = { app: string; directives: Directives };
type View = TaskView<About, Reply>;

/** What `createFal` works with. */
interface FalOptions {
  apiKey: string;
  outputs: Outputs;
  journal: TaskJournal;
  callbacks: Callbacks;
  now: () => number;
  /** Default: without limits. */
  capacity?: Capacity | undefined;
  /** Default: files are taken as they are. */
  checkInputs?: CheckInputs | undefined;
  /** Returns an id for a request. Default: a UUID. */
  newTaskId?: () => string;
  /** Signs webhooks; the same for all accounts. */
  signing: FalSigning;
}

/** The queue of fal.ai: its requests, and a handler for each route. */
class FalQueue {
  private readonly options: FalOptions;
  private readonly checkInputs: CheckInputs;
  private readonly tasks: Tasks<About, Reply>;
  private readonly limiter: CreationLimiter;
  private readonly earlierQueries = createCallCounter();

  constructor(options: FalOptions) {
    this.options = options;
    this.checkInputs = options.checkInputs ?? takeAllInputs;
    this.tasks = createTasks<About, Reply>({
      now: options.now,
      retentionSeconds: TASK_RETENTION_SECONDS,
      runningTasks: options.capacity?.runningTasks,
      ...(options.newTaskId && { newId: options.newTaskId }),
    });
    this.limiter = createCreationLimiter(options.now, options.capacity);
  }

  /** The requests of an application: an id of another one is not found. */
  private find(id: string, app: string, instant?: number): View | undefined {
    const task = this.tasks.find(id, instant);
    return task?.about.app === app ? task : undefined;
  }

  private resultOf(
    work: FalWork & { model: string },
    directives: Directives,
    endedAt: number,
    { problem }: Inputs,
  ): Reply {
    if (work.kind === 'error') return work.reply;
    if (problem) return inputError(problem);
    if (directives.fail === 'provider_error')
      return errors.modelError(500, 'internal_server_error', 'Internal error.');
    const isRefused = directives.fail === 'content_policy';
    if (isRefused && !(work.kind === 'images' && work.isFlagging))
      return errors.modelError(422, 'content_policy_violation', 'The content was flagged.');
    const seed = 7;
    if (work.kind === 'video') {
      const { model, resolution, ratio, seconds } = work;
      const video = { model, directives, resolution, ratio, seconds, watermark: false };
      if (directives.isEmpty) return new Reply(200, { video: null, seed });
      const url = addVideoOutput(this.options.outputs, video, endedAt);
      const file = { url, content_type: 'video/mp4', file_name: null, file_size: null, duration: seconds };
      return new Reply(200, { video: file, seed, actual_prompt: null });
    }
    const image = { ...work, directives, watermark: false };
    const made = Array.from(
      { length: Math.min(work.count, directives.images ?? work.count) },
      (_, index) => index,
    )
      .filter((index) => !directives.isEmpty && !directives.refusedOutputs.has(index))
      .map((index) => ({
        url: addImageOutput(this.options.outputs, image, index, endedAt),
        ...{
          content_type: `image/${work.format}`,
          file_name: null,
          file_size: null,
          width: null,
          height: null,
        },
      }));
    const flags = work.isFlagging && { has_nsfw_concepts: made.map(() => isRefused) };
    return new Reply(200, { images: made, seed, ...flags });
  }

  /** The fields of a request that each answer about it has. */
  private describe(id: string, app: string, base: string) {
    return {
      request_id: id,
      response_url: `${base}${PREFIX}${app}/requests/${id}`,
      status_url: `${base}${PREFIX}${app}/requests/${id}/status`,
      cancel_url: `${base}${PREFIX}${app}/requests/${id}/cancel`,
      logs: null,
      metrics: {},
    };
  }

  readonly submit: Handler = async ({ body, params: { endpoint = '' }, query, headers, signal }) => {
    if (!hasApplication(endpoint)) throw errors.applicationNotFound(`${PREFIX}${endpoint}`);
    const app = endpoint.split('/').slice(0, 2).join('/');
    const prompt = typeof body.prompt === 'string' ? body.prompt : '';
    const directives = parseDirectives(prompt);
    const work = workOf(endpoint, body);
    const tooMany = this.limiter.refusalOf({ model: work.model, prompt, directives });
    if (tooMany) throw errors.tooManyCalls(tooMany.retryAfterSeconds);
    if (this.options.capacity?.whenFull === 'refuse' && this.tasks.isFull(work.model))
      throw errors.tooManyCalls(undefined);
    const inputs = await this.checkInputs(work.model, filesOfFal(body));
    const { fail, delaySeconds = DEFAULT_TASK_SECONDS, queuedSeconds, isForgotten } = directives;
    const { id, changesAt } = this.tasks.submit({
      lane: work.model,
      about: { app, directives },
      isForgotten,
      queuedSeconds,
      seconds: fail === 'timeout' ? Infinity : delaySeconds,
      finish: (endedAt) => ({ result: this.resultOf(work, directives, endedAt, inputs) }),
    });
    const url = query.get('fal_webhook');
    this.options.journal.add({
      id,
      upstream: 'fal',
      model: work.model,
      prompt,
      ...(url !== null && { callbackUrl: url }),
    });
    if (url !== null && fail !== 'timeout') {
      this.options.callbacks.schedule({
        id,
        url,
        mode: directives.callback,
        changesAt: changesAt.slice(-1),
        query: (instant) => webhookOf(this.find(id, app, instant)),
        headersOf: (sent) => this.options.signing.headersOf(id, sent, directives.callback === 'forged'),
      });
    }
    const answer = {
      status: 'IN_QUEUE',
      queue_position: 0,
      ...this.describe(id, app, `http://${headers.host}`),
    };
    return heldBack(garbled(answer, 'creation', directives), directives, signal);
  };

  /** Counts a query of the state, and throws or garbles as the prompt says. */
  readonly status: Handler = ({ params: { id = '', app = '' }, headers }) => {
    this.options.journal.countQuery(id);
    const task = this.find(id, app);
    if (!task) return errors.requestNotFound();
    const { directives } = task.about;
    if (directives.isRevoked) throw errors.unauthorized();
    if (this.earlierQueries.next(id) < directives.unavailableQueries)
      throw errors.unavailable(directives.retryAfterSeconds);
    const rest = this.describe(id, app, `http://${headers.host}`);
    const { phase } = task;
    const isUnfinished = phase === 'waiting' || phase === 'running';
    const ended = phase === 'cancelled' ? { error: 'Cancelled.', error_type: 'client_cancelled' } : {};
    const word = phase === 'waiting' ? 'IN_QUEUE' : 'IN_PROGRESS';
    const answer = isUnfinished
      ? { status: directives.statusWord ?? word, ...(phase === 'waiting' && { queue_position: 0 }), ...rest }
      : { status: 'COMPLETED', ...rest, metrics: { inference_time: 0.5 }, ...ended };
    const told = garbled(answer, 'queries', directives);
    return new Reply(isUnfinished && directives.garbled !== 'queries' ? 202 : 200, told);
  };

  readonly result: Handler = ({ params: { id = '', app = '' } }) => {
    const task = this.find(id, app);
    if (!task) return errors.requestNotFound();
    if (task.phase === 'waiting' || task.phase === 'running') return errors.stillInProgress();
    if (task.phase === 'succeeded') return task.result;
    return new Reply(499, { detail: 'Cancelled.', error_type: 'client_cancelled' });
  };

  readonly cancel: Handler = ({ params: { id = '', app = '' } }) => {
    this.options.journal.countCancel(id);
    const phase = this.find(id, app)?.phase;
    if (phase === undefined) return errors.requestNotFound();
    // What runs goes on: a model's maker does not stop for it.
    if (phase === 'running') return new Reply(202, { status: 'CANCELLATION_REQUESTED' });
    return this.tasks.cancel(id) ? { status: 'OK' } : new Reply(400, { status: 'ALREADY_COMPLETED' });
  };
}

/** Creates fal.ai's queue at `/fal`, with its keys at `/fal/.well-known/jwks.json`. */
export const createFal = (options: FalOptions): Upstream => {
  const queue = new FalQueue(options);
  return {
    prefix: PREFIX,
    routes: [
      { method: 'GET', path: /^\/fal\/\.well-known\/jwks\.json$/, handle: () => options.signing.keys },
      { method: 'GET', path: new RegExp(`${REQUEST}/status$`), handle: queue.status },
      { method: 'GET', path: new RegExp(`${REQUEST}$`), handle: queue.result },
      { method: 'PUT', path: new RegExp(`${REQUEST}/cancel$`), handle: queue.cancel },
      { method: 'POST', path: /^\/fal\/(?<endpoint>.+)$/, handle: queue.submit },
    ],
    newRequestId: randomUUID,
    checkKey: ({ authorization }, path) => {
      if (authorization !== `Key ${options.apiKey}` && path !== KEYS_PATH) throw errors.unauthorized();
    },
    renderError: errors.renderError,
    errors: {
      unknownRoute: (_, path) => errors.applicationNotFound(path),
      malformedBody: errors.badRequest,
      bodyTooLarge: errors.bodyTooLarge,
      internal: errors.internalError,
    },
  };
};

/** The body of the one webhook of a request; undefined for one that was cancelled. */
const webhookOf = (task: View | undefined) => {
  if (task?.phase !== 'succeeded') return undefined;
  const { id, result } = task;
  const isDone = result.status === 200;
  return {
    request_id: id,
    gateway_request_id: id,
    status: isDone ? 'OK' : 'ERROR',
    error: isDone ? null : `Invalid status code: ${result.status}`,
    payload: result.body,
  };
};
