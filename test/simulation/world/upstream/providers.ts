import { type CreationCall, SAME_ID } from '../../evidence/evidence.ts';
import { Part } from '../part.ts';
import { FORGERIES, falCallback, falKeys, falResult, falState } from './fal.ts';
import {
  FILE_HOST,
  type HttpAnswer,
  type HttpRequest,
  isOfKeys,
  jsonAnswer,
  secretOf,
  taskIdIn,
} from './http.ts';
import { anMp4, aPng, marked, padded } from './media.ts';
import {
  arkTask,
  type Behaviour,
  type CallbackMode,
  choicesOf,
  error,
  failureCode,
  imagesIn,
  madeOf,
  page,
  promptIn,
  readPrompt,
  SERVICE_OF,
  studioTask,
  type Task,
  urlsOf,
  wireOf,
} from './wire-formats.ts';

/** How long a provider works: next to nothing, a moment, a minute, or longer than anyone waits. */
const WORK_MS = { instant: [0, 60], quick: [500, 12_000], slow: [40_000, 300_000] } as const;
/** How long a file server that is slow takes. */
const FILE_MS = [10, 400, 5_000, 50_000];
/** How long a busy provider asks its callers to wait, if it does. */
const RETRY_AFTER_SECONDS = [undefined, 3, 45];
/**
 * Lists are refused, behind or incomplete when a draw is below these bounds, in ascending order. `missed` is the
 * share of tasks that an incomplete list lacks.
 */
const LISTS = { refused: 0.08, behind: 0.3, incomplete: 0.5, missed: 0.3 };
const LIST_LAG_MS = 8_000;
const LATE_CALLBACK_MS = 3 * 3_600_000;
/** How long after a task's end somebody may go on to call back in fal's name, and how often somebody does. */
const FORGED_MS = 20_000;
const FORGED_SHARE = 0.6;

/** The providers in their own wire formats. What they were asked to make is counted: it is paid for. */
export class Providers extends Part {
  /** How many creations were accepted, by the marker in their prompt. */
  readonly accepted = new Map<string, number>();
  /** Every attempt to cancel a task, by the marker in its prompt and when, in epoch milliseconds. */
  readonly cancels: { marker: string; at: number }[] = [];
  /** Where they were asked to call back. */
  readonly callbackUrls: string[] = [];
  /** Told of each creation call that arrives. */
  onCall: ((call: CreationCall) => void) | undefined;
  /** Told of each creation call that is taken, with its body. */
  onTaken: ((requestId: string, body: string) => void) | undefined;
  /** The share of calls that a `busy` provider turns away, of each marker the first three of them at most. */
  busyShare = 0.7;
  private readonly tasks = new Map<string, Task>();
  private made = 0;
  private readonly refusals = new Map<string, number>();

  answer(request: HttpRequest): HttpAnswer | Promise<HttpAnswer> {
    const url = new URL(request.url);
    const { hostname, pathname } = url;
    if (hostname === FILE_HOST) return this.file(pathname);
    if (isOfKeys(url)) return falKeys();
    const wire = wireOf(hostname);
    const id = taskIdIn(url);
    if (request.method === 'GET' && /\/tasks\/?$/.test(pathname))
      return this.list(wire, url.searchParams, secretOf(request));
    if (request.method === 'GET')
      return this.query(wire, id, secretOf(request), pathname.endsWith('/status'));
    if (request.method === 'DELETE' || pathname.endsWith('/cancel')) return this.cancel(wire, id);
    return this.create(wire, url, request);
  }

  private async create(
    wire: Task['wire'],
    { pathname, searchParams }: URL,
    { body: text, headers, creation }: HttpRequest,
  ): Promise<HttpAnswer> {
    const body = JSON.parse(text) as Record<string, unknown>;
    if (creation) this.onCall?.(creation);
    const { marker, behaviour, callback } = readPrompt(promptIn(body));
    if (behaviour === 'busy' && this.world.faults.random.next() < this.busyShare) {
      const count = (this.refusals.get(marker) ?? 0) + 1;
      this.refusals.set(marker, count);
      if (count <= 3) return this.turnAway(wire, creation);
    }
    // At fal a prompt is looked at when its task runs.
    if (behaviour === 'refused' && wire !== 'fal' && this.world.random.next() < 0.5) {
      return error(wire, 400, 'InputTextSensitiveContentDetected', 'DataInspectionFailed');
    }
    this.accepted.set(marker, (this.accepted.get(marker) ?? 0) + 1);
    if (creation) this.onTaken?.(creation.requestId, text);
    if (behaviour === 'broken' && this.world.random.next() < 0.5) return page(502);
    if (behaviour === 'no-json') return page(200);
    const video = /tasks$|video/.test(pathname);
    const images = imagesIn(body, behaviour);
    const id = behaviour === 'same-id' ? SAME_ID : `task-${this.made++}`;
    const { now: createdAt } = this.world.scheduler;
    const doneAt = this.workEnd(behaviour);
    const account = secretOf({ headers });
    const task: Task = { id, marker, behaviour, wire, account, images, video, createdAt, doneAt };
    const asynchronous = video || wire === 'fal' || headers['x-dashscope-async'] === 'enable';
    if (creation) creation.made = madeOf(task, asynchronous);
    if (!asynchronous) return this.synchronous(task);
    this.tasks.set(task.id, task);
    const url = body.callback_url ?? searchParams.get('fal_webhook');
    if (typeof url === 'string') {
      this.callbackUrls.push(url);
      this.callBack(url, task, callback);
      if (wire === 'fal') this.forge(url, task);
    }
    if (wire === 'fal') return jsonAnswer(200, { status: 'IN_QUEUE', request_id: task.id });
    if (wire === 'ark') return jsonAnswer(200, { id: task.id });
    return jsonAnswer(200, { request_id: 'r', output: { task_id: task.id, task_status: 'PENDING' } });
  }

  private turnAway(wire: Task['wire'], creation: CreationCall | undefined): HttpAnswer {
    const seconds = this.world.random.pick(RETRY_AFTER_SECONDS);
    const answer = error(wire, 429, 'RateLimitExceeded', 'Throttling.RateQuota');
    if (seconds === undefined) return answer;
    if (creation) creation.retryAt = this.world.scheduler.now + seconds * 1000;
    return { ...answer, headers: { 'retry-after': String(seconds) } };
  }

  private async synchronous(task: Task): Promise<HttpAnswer> {
    const { scheduler } = this.world;
    await scheduler.sleep(task.doneAt - scheduler.now);
    const { wire, behaviour } = task;
    if (behaviour === 'refused')
      return error(wire, 400, 'OutputImageSensitiveContentDetected', 'DataInspectionFailed');
    if (behaviour === 'broken') return error(wire, 500, 'InternalServiceError');
    const urls = urlsOf(task);
    if (wire === 'ark') return jsonAnswer(200, { data: urls.map((url) => ({ url })) });
    return jsonAnswer(200, { output: { choices: choicesOf(urls) } });
  }

  /** The state of a task; of another account's, that there is none. */
  private query(wire: Task['wire'], asked: string, account: string, isOfStatus: boolean): HttpAnswer {
    const id = this.world.mutation?.asks?.(asked, this.siblingsOf(asked)) ?? asked;
    const task = this.tasks.get(id);
    if (!task || task.behaviour === 'gone' || task.account !== account) {
      if (wire === 'fal') return jsonAnswer(404, { status: 'NOT_FOUND' });
      if (wire === 'ark') return error(wire, 404, 'ResourceNotFound');
      return jsonAnswer(200, { output: { task_id: id, task_status: 'UNKNOWN' } });
    }
    const { random, scheduler } = this.world;
    const wavers = task.behaviour === 'wavers';
    if (wavers) this.world.leaveUnread(SERVICE_OF[wire]);
    if (task.behaviour === 'no-json-state' && random.next() < 0.5) return page(200);
    const isDone = scheduler.now >= task.doneAt && !(wavers && random.next() < 0.5);
    const isFailed = wavers
      ? random.next() < 0.5
      : task.behaviour === 'refused' || task.behaviour === 'broken';
    if (wire === 'ark') return jsonAnswer(200, arkTask(task, isDone, isFailed));
    if (wire === 'fal' && isOfStatus) return falState(id, isDone);
    if (wire === 'fal' && !isDone) return jsonAnswer(400, { detail: 'Request is still in progress' });
    if (wire === 'fal') return falResult(urlsOf(task), isFailed ? failureCode(task) : undefined);
    return jsonAnswer(200, { output: { task_id: id, ...studioTask(task, isDone, isFailed) } });
  }

  /** The tasks of an account: now and then as they were before, without some of them, or refused. */
  private list(wire: Task['wire'], query: URLSearchParams, account: string): HttpAnswer {
    const { faults, scheduler } = this.world;
    const { random } = faults;
    const mood = faults.enabled ? random.next() : 1;
    if (mood < LISTS.refused) return error(wire, 429, 'RateLimitExceeded', 'Throttling.RateQuota');
    const asOf = mood < LISTS.behind ? scheduler.now - random.whole(0, LIST_LAG_MS) : scheduler.now;
    const misses = mood < LISTS.incomplete ? LISTS.missed : 0;
    const known = [...this.tasks.values()].filter(
      (task) =>
        task.account === account &&
        task.behaviour !== 'gone' &&
        task.createdAt <= asOf &&
        random.next() >= misses,
    );
    if (wire === 'ark') {
      const ids = query.getAll('filter.task_ids');
      const items = known
        .filter(({ id }) => ids.includes(id))
        .map((task) => arkTask(task, asOf >= task.doneAt, false));
      return jsonAnswer(200, { items, total: items.length });
    }
    const entries = known
      .map(({ id, doneAt }) => ({ task_id: id, status: asOf >= doneAt ? 'SUCCEEDED' : 'RUNNING' }))
      .filter(({ status }) => status === query.get('status'));
    const size = Number(query.get('page_size'));
    const from = (Number(query.get('page_no')) - 1) * size;
    const total_page = Math.ceil(entries.length / size);
    return jsonAnswer(200, { data: entries.slice(from, from + size), total: entries.length, total_page });
  }

  /** Cancels a task, deletes the record of one that is done, or refuses: a task does not stay queued for long. */
  private cancel(wire: Task['wire'], id: string): HttpAnswer {
    const task = this.tasks.get(id);
    const { scheduler, random } = this.world;
    if (task) this.cancels.push({ marker: task.marker, at: scheduler.now });
    if (!task || random.next() < 0.5)
      return error(wire, wire === 'ark' ? 409 : 400, 'InvalidAction', 'UnsupportedOperation', 'bad_request');
    this.tasks.delete(id);
    return jsonAnswer(200, {});
  }

  /** The tasks that were made for the same prompt. */
  private siblingsOf(id: string): string[] {
    const marker = this.tasks.get(id)?.marker;
    return [...this.tasks.values()].filter((task) => task.marker === marker).map((task) => task.id);
  }

  private callBack(url: string, task: Task, mode: CallbackMode): void {
    const { scheduler, random } = this.world;
    const wait = task.doneAt - scheduler.now;
    if (mode === 'off' || task.behaviour === 'never') return;
    const times = {
      early: [0, wait + 100],
      once: [wait + random.pick([random.whole(0, 40), random.whole(1, 500)])],
      twice: [wait, wait + random.whole(0, 60_000)],
      late: [wait + LATE_CALLBACK_MS],
    }[mode];
    const content = task.wire === 'fal' ? () => falCallback(task.id, scheduler.now) : undefined;
    for (const time of times)
      scheduler.after(time, () => this.world.callbacks.send({ url, content, isGenuine: true }));
  }

  /** Somebody else calls back in fal's name, with no signature or a wrong one, or with fal's own callback about another task. */
  private forge(url: string, task: Task): void {
    const { scheduler, random } = this.world;
    if (random.next() >= FORGED_SHARE) return;
    const others = [...this.tasks.values()].filter((one) => one.wire === 'fal' && one.id !== task.id);
    const forgery = random.pick([...FORGERIES, undefined]);
    const id = forgery === undefined ? random.pick([task, ...others]).id : task.id;
    const inMs = Math.min(task.doneAt - scheduler.now, FORGED_MS);
    scheduler.after(random.whole(0, Math.ceil(inMs) + FORGED_MS), () =>
      this.world.callbacks.send({
        ...{ url, content: () => falCallback(id, scheduler.now, forgery) },
        isGenuine: forgery === undefined,
      }),
    );
  }

  private async file(pathname: string): Promise<HttpAnswer> {
    const { random, scheduler } = this.world;
    if (pathname.includes('slow')) await scheduler.sleep(random.pick(FILE_MS));
    if (pathname.includes('flaky') && random.next() < 0.5) return { status: 503, bytes: new Uint8Array() };
    if (pathname.includes('missing')) return { status: 404, bytes: new Uint8Array() };
    const bytes = marked(pathname.endsWith('.mp4') ? anMp4() : aPng, pathname);
    return { status: 200, bytes: pathname.includes('large') ? padded(bytes) : bytes };
  }

  private workEnd(behaviour: Behaviour): number {
    const { scheduler, random } = this.world;
    if (behaviour === 'never') return Number.POSITIVE_INFINITY;
    const [least, most] = WORK_MS[behaviour === 'slow' || behaviour === 'instant' ? behaviour : 'quick'];
    return scheduler.now + random.whole(least, most);
  }
}
