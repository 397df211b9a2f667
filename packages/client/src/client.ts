import { type Download, openFile } from './download.ts';
import {
  DownloadError,
  ExpiredError,
  GenerationServiceError,
  NotFoundError,
  RequestFailedError,
  TemporarilyUnavailableError,
  TimeoutError,
} from './errors.ts';
import { type Call, type CallOptions, type ClientOptions, Http } from './http.ts';
import { type Page, PageList } from './pages.ts';
import { jittered, sleep } from './sleep.ts';
import type {
  Balance,
  BalanceHistoryEntry,
  Budget,
  BulkDeletion,
  DeletedEndUser,
  DeletedRequest,
  EndUser,
  EndUserBlock,
  EndUserBudget,
  GenerationRecord,
  ImageItem,
  ImageModelId,
  Model,
  Models,
  NewGeneration,
  NewUpload,
  NewVideo,
  QueuedImages,
  QueuedVideo,
  Upload,
  Usage,
  VideoItem,
  VideoModelId,
  VideoRecord,
} from './types.ts';
import { sendFile, type WithFiles, withUrls } from './upload.ts';

/** How a creation is sent. */
export interface CreateOptions extends CallOptions {
  /** Default: a new key for each call, which all its repetitions share. Give one that you have stored to survive a crash of yours. */
  idempotencyKey?: string;
}

/** How to wait for a request. */
export interface WaitOptions extends CallOptions {
  /** Seconds between two reads, about. Default: 5. */
  intervalSeconds?: number;
  /** Default: longer than the service's own deadlines, 75 min for images and 2.5 h for a video. */
  timeoutSeconds?: number;
  /** Called when the status has changed. */
  onStatus?: (record: GenerationRecord | VideoRecord) => void;
}

/** How to create a request and wait for it. */
export interface RunOptions extends CreateOptions, WaitOptions {}

/** Of which days to read the usage, and by what. */
export interface UsageOptions extends CallOptions {
  /** Dates like `2026-11-01`; at most 93 days. */
  from: string;
  to: string;
  by?: Usage['by'];
}

/** Which page of a list to begin with. */
export interface PageOptions extends CallOptions {
  page?: number;
  pageSize?: number;
}

/** How to read records. */
export interface ReadOptions extends CallOptions {
  /** `input` adds what was asked to each record. */
  include?: 'input';
}

/** How to read the balance. */
export interface BalanceOptions extends CallOptions {
  /** Adds whose it is. */
  include?: 'account';
}

/** Which requests of a kind to list. */
export interface RequestListOptions extends PageOptions, ReadOptions {
  endUserEmail?: string;
  status?: GenerationRecord['status'];
  model?: string;
  /** An ISO 8601 date or date-time; only strictly newer ones are listed. */
  createdAfter?: string;
  /** The same; only strictly older ones are listed. */
  createdBefore?: string;
}

/** Which end-users to list. */
export interface EndUserListOptions extends PageOptions {
  /** A part of the address. */
  email?: string;
  blocked?: boolean;
}

type Unfinished = { status: 'queued' } | { status: 'processing' };
/** A record of images that does not change any more, but for its expiry. */
export type FinishedImages = Exclude<GenerationRecord, Unfinished>;
/** The same of a video. */
export type FinishedVideo = Exclude<VideoRecord, Unfinished>;
/** A record that succeeded. */
export type Succeeded<Rec> = Extract<Rec, { status: 'succeeded' }>;

/** The ids that the document names, without any other text. */
type Named<Id> = Id extends string ? (string extends Id ? never : Id) : never;

const VIDEO_PREFIX = 'vid_';
const FINISHED: readonly string[] = ['succeeded', 'failed', 'expired'];
const DEFAULT_INTERVAL_SECONDS = 5;
const IMAGES_TIMEOUT_SECONDS = 4_500;
const VIDEO_TIMEOUT_SECONDS = 9_000;
const IDS_PER_CALL = 200;
/** A deletion of an end-user is called again at most this often; each call removes thousands of requests. */
const MAX_DELETION_CALLS = 1_000;

const recordPath = (requestId: string): Call['path'] => [
  requestId.startsWith(VIDEO_PREFIX) ? 'videos' : 'generations',
  requestId,
];

/**
 * The generation service. Methods throw subclasses of `GenerationServiceError`: `ApiError` for a refusal, else
 * `ConnectionError`, `TimeoutError` or `AbortedError`.
 */
export class GenerationClient {
  readonly #http: Http;

  /** The kind of each model that was seen on offer. */
  readonly #kinds = new Map<string, Model['type']>();

  /** Throws `TypeError` when the base URL or the key is missing. */
  constructor(options: ClientOptions = {}) {
    this.#http = new Http(options);
  }

  /** Where the API is, without a slash at its end. */
  get baseUrl(): string {
    return this.#http.options.baseUrl;
  }

  /** Accepts a request for images and debits it once, however often it has to be sent. Uploads files among its URLs. */
  createImage(body: WithFiles<NewGeneration>, options?: CreateOptions): Promise<QueuedImages> {
    return this.#create(['generations'], body, options);
  }

  /** Accepts a request for a video and debits it once, however often it has to be sent. Uploads files among its URLs. */
  createVideo(body: WithFiles<NewVideo>, options?: CreateOptions): Promise<QueuedVideo> {
    return this.#create(['videos'], body, options);
  }

  async #create<T>(path: Call['path'], creation: object, options: CreateOptions = {}): Promise<T> {
    // An empty key too: a creation without one may not be repeated.
    const idempotencyKey = options.idempotencyKey || crypto.randomUUID();
    const body = await withUrls(creation, (file) => this.upload(file, options));
    return this.#http.call({ method: 'POST', path, body, idempotencyKey }, options);
  }

  /**
   * Creates images or a video, as the model makes, waits, and returns the record once it has succeeded: as a creation and
   * `waitForSuccess`. The first call for a model reads the list of models, so the key needs `models:read`.
   */
  run(
    body: WithFiles<NewGeneration> & { model: Named<ImageModelId> },
    options?: RunOptions,
  ): Promise<Succeeded<GenerationRecord>>;
  run(
    body: WithFiles<NewVideo> & { model: Named<VideoModelId> },
    options?: RunOptions,
  ): Promise<Succeeded<VideoRecord>>;
  run(
    body: WithFiles<NewGeneration> | WithFiles<NewVideo>,
    options?: RunOptions,
  ): Promise<Succeeded<GenerationRecord | VideoRecord>>;
  async run(
    body: WithFiles<NewGeneration> | WithFiles<NewVideo>,
    options?: RunOptions,
  ): Promise<Succeeded<GenerationRecord | VideoRecord>> {
    const path = [(await this.#kindOf(body.model, options)) === 'video' ? 'videos' : 'generations'];
    const request = await this.#create<{ requestId: string; status: string; referencesCount: number }>(
      path,
      body,
      options,
    );
    return this.waitForSuccess(request, options);
  }

  async #kindOf(model: string, options?: CallOptions): Promise<Model['type']> {
    if (!this.#kinds.has(model))
      for (const { id, type } of await this.listModels(options)) this.#kinds.set(id, type);
    const kind = this.#kinds.get(model);
    if (!kind) throw new GenerationServiceError(`The service does not offer the model ${model}.`);
    return kind;
  }

  /**
   * Uploads a file of the type that it says, and returns its URL, which your creations take for two days. With an
   * `Idempotency-Key` of your own, upload first and keep the URL: another URL is another body.
   */
  async upload(file: Blob, options: CallOptions = {}): Promise<Upload> {
    const upload = await this.createUpload(
      { contentType: file.type as NewUpload['contentType'], bytes: file.size },
      options,
    );
    await sendFile(file, upload, this.#http.options.fetch, options);
    return upload;
  }

  /** A form that takes one file. `upload` sends it, too. */
  createUpload(body: NewUpload, options?: CallOptions): Promise<Upload> {
    return this.#http.call({ method: 'POST', path: ['uploads'], body }, options);
  }

  /** The record of a request for images. */
  getImage(requestId: string, options?: ReadOptions): Promise<GenerationRecord> {
    return this.#read(['generations', requestId], options);
  }

  /** The record of a request for a video. */
  getVideo(requestId: string, options?: ReadOptions): Promise<VideoRecord> {
    return this.#read(['videos', requestId], options);
  }

  #read<T>(
    path: Call['path'],
    options: ReadOptions | BalanceOptions = {},
    query: Call['query'] = { include: options.include },
  ): Promise<T> {
    return this.#http.call({ method: 'GET', path, query }, options);
  }

  /**
   * The record of a request once it is finished, whether it succeeded or not. A status that this version does not know
   * counts as unfinished. Throws `TimeoutError` when it takes too long; the request goes on.
   */
  waitFor(
    request: { requestId: string; referencesCount: number },
    options?: WaitOptions,
  ): Promise<FinishedImages>;
  waitFor(request: QueuedVideo | VideoRecord, options?: WaitOptions): Promise<FinishedVideo>;
  waitFor(request: { requestId: string }, options?: WaitOptions): Promise<FinishedImages | FinishedVideo>;
  async waitFor(
    { requestId, status: given }: { requestId: string; status?: string },
    options: WaitOptions = {},
  ): Promise<FinishedImages | FinishedVideo> {
    const isVideo = requestId.startsWith(VIDEO_PREFIX);
    const {
      signal,
      onStatus,
      intervalSeconds = DEFAULT_INTERVAL_SECONDS,
      timeoutSeconds = isVideo ? VIDEO_TIMEOUT_SECONDS : IMAGES_TIMEOUT_SECONDS,
    } = options;
    const giveUpAt = Date.now() + timeoutSeconds * 1000;
    const pause = () => sleep(Math.min(jittered(intervalSeconds * 1000), giveUpAt - Date.now()), signal);
    // A record that is given says as much as a read would: the first read is due after a pause.
    if (given !== undefined && !FINISHED.includes(given)) await pause();
    for (let status: string | undefined; ; ) {
      const record = await this.#read<GenerationRecord | VideoRecord>(recordPath(requestId), options);
      if (record.status !== status) onStatus?.(record);
      status = record.status;
      if (FINISHED.includes(status)) return record as FinishedImages | FinishedVideo;
      if (Date.now() >= giveUpAt) throw new TimeoutError(`The request ${requestId} is still ${status}.`);
      await pause();
    }
  }

  /** Like `waitFor`, but throws `RequestFailedError` unless it succeeded. */
  waitForSuccess(
    request: { requestId: string; referencesCount: number },
    options?: WaitOptions,
  ): Promise<Succeeded<GenerationRecord>>;
  waitForSuccess(request: QueuedVideo | VideoRecord, options?: WaitOptions): Promise<Succeeded<VideoRecord>>;
  async waitForSuccess(
    request: { requestId: string },
    options?: WaitOptions,
  ): Promise<Succeeded<GenerationRecord | VideoRecord>> {
    const record = await this.waitFor(request, options);
    if (record.status !== 'succeeded') throw new RequestFailedError(record);
    return record;
  }

  /**
   * Fetches the file of an item. A URL that is refused is signed anew, once. Throws `ExpiredError` when the time of the
   * file is over, `DownloadError` when it could not be stored or does not come in full.
   */
  async download(item: ImageItem | VideoItem, { signal }: CallOptions = {}): Promise<Download> {
    if (!('url' in item)) throw new DownloadError(`The output ${item.id} could not be stored.`);
    const { fetch } = this.#http.options;
    const opened =
      (await openFile(item.url, fetch, signal)) ??
      (await openFile(await this.#freshUrlOf(item, signal), fetch, signal));
    if (!opened) throw new DownloadError(`The file of ${item.id} is refused.`);
    return opened;
  }

  async #freshUrlOf(
    { id, expiresAt }: { id: string; expiresAt: string },
    signal?: AbortSignal,
  ): Promise<string> {
    if (Date.parse(expiresAt) > Date.now()) {
      const path = recordPath(id.slice(0, id.lastIndexOf('_')));
      const record = await this.#read<GenerationRecord | VideoRecord>(path, { signal });
      const items = 'images' in record ? record.images : 'videos' in record ? record.videos : [];
      for (const item of items) if (item.id === id && 'url' in item) return item.url;
    }
    throw new ExpiredError(`The file of ${id} is gone.`);
  }

  /** Requests for images, newest first. */
  listImages(options?: RequestListOptions): PageList<GenerationRecord> {
    return this.#list(['generations'], options, ({ requestId }) => requestId);
  }

  /** Requests for videos, newest first. */
  listVideos(options?: RequestListOptions): PageList<VideoRecord> {
    return this.#list(['videos'], options, ({ requestId }) => requestId);
  }

  /** End-users, newest first. */
  listEndUsers(options?: EndUserListOptions): PageList<EndUser> {
    return this.#list(['end-users'], options, ({ email }) => email);
  }

  /** Changes of the balance, newest first. */
  listBalanceHistory(options?: PageOptions): PageList<BalanceHistoryEntry> {
    return this.#list(['balance', 'history'], options, ({ id }) => id);
  }

  #list<Item>(
    path: Call['path'],
    { signal, headers, onResponse, page: first = 1, ...filter }: PageOptions = {},
    idOf: (item: Item) => string,
  ): PageList<Item> {
    return new PageList(
      (page, next) =>
        this.#read<Page<Item>>(path, { signal, headers, onResponse }, { ...filter, page, ...next }),
      idOf,
      first,
    );
  }

  /**
   * Deletes a finished request with its files. When the answer to an earlier attempt was lost and the request is gone,
   * it is taken for deleted, with a count of 0.
   */
  deleteRequest(requestId: string, options?: CallOptions): Promise<DeletedRequest> {
    return this.#remove(['generations', requestId], { requestId, deleted: true, removedObjects: 0 }, options);
  }

  /** Deletes any number of requests, 200 a call. The counts are lower when an answer was lost and a call repeated. */
  async deleteRequests(requestIds: readonly string[], options?: CallOptions): Promise<BulkDeletion> {
    const distinct = [...new Set(requestIds)];
    const conflicts: string[] = [];
    const notFound: string[] = [];
    let [deleted, removedObjects] = [0, 0];
    for (let at = 0; at < distinct.length; at += IDS_PER_CALL) {
      const body = { requestIds: distinct.slice(at, at + IDS_PER_CALL) };
      const path = ['generations', 'bulk-delete'];
      const one = await this.#http.call<BulkDeletion>({ method: 'POST', path, body }, options);
      deleted += one.deleted;
      removedObjects += one.removedObjects;
      conflicts.push(...one.conflicts);
      notFound.push(...one.notFound);
    }
    return { requested: distinct.length, deleted, removedObjects, conflicts, notFound };
  }

  /** Blocks an end-user. */
  blockEndUser(email: string, options?: CallOptions): Promise<EndUserBlock> {
    return this.#setBlocked(email, 'block', options);
  }

  /** Unblocks an end-user. */
  unblockEndUser(email: string, options?: CallOptions): Promise<EndUserBlock> {
    return this.#setBlocked(email, 'unblock', options);
  }

  #setBlocked(email: string, verb: string, options?: CallOptions): Promise<EndUserBlock> {
    return this.#http.call({ method: 'POST', path: ['end-users', email, verb] }, options);
  }

  /** Limits on the spending of an end-user, and the spending. */
  getBudget(email: string, options?: CallOptions): Promise<EndUserBudget> {
    return this.#read(['end-users', email, 'budget'], options);
  }

  /** Sets what an end-user may spend, in xTokens. `null`, or missing: any amount. */
  setBudget(email: string, body: Budget, options?: CallOptions): Promise<EndUserBudget> {
    return this.#http.call({ method: 'PUT', path: ['end-users', email, 'budget'], body }, options);
  }

  /**
   * Deletes an end-user with every request and file, in as many calls as it takes. The counts cover the last call
   * only, not earlier calls that ended with 503 or lost their answer.
   */
  deleteEndUser(email: string, options?: CallOptions): Promise<DeletedEndUser> {
    return this.#remove(
      ['end-users', email],
      { email, deleted: true, removedRequests: 0, removedObjects: 0 },
      options,
    );
  }

  /**
   * Repeats a deletion until it is complete. Returns `gone` if an earlier call may have done it and nothing is left.
   */
  async #remove<T>(path: Call['path'], gone: T, options: CallOptions = {}): Promise<T> {
    let mayBeDone = false;
    for (let calls = 1; ; calls += 1) {
      try {
        return await this.#http.call<T>({ method: 'DELETE', path }, options, () => {
          mayBeDone = true;
        });
      } catch (error) {
        if (mayBeDone && error instanceof NotFoundError) return gone;
        if (!(error instanceof TemporarilyUnavailableError) || calls === MAX_DELETION_CALLS) throw error;
        mayBeDone = true;
        await sleep((error.retryAfterSeconds ?? 1) * 1000, options.signal);
      }
    }
  }

  /** The balance. */
  getBalance(options?: BalanceOptions): Promise<Balance> {
    return this.#read(['balance'], options);
  }

  /** Debits and refunds from one UTC date to another, which is not included. */
  getUsage({ from, to, by = [], ...options }: UsageOptions): Promise<Usage> {
    return this.#read(['usage'], options, { from, to, by: by.join() || undefined });
  }

  /** The models that can be used now, with their limits. Read them once per process. */
  async listModels(options?: CallOptions): Promise<readonly Model[]> {
    return (await this.#read<Models>(['models'], options)).data;
  }
}
