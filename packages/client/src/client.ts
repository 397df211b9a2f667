import { deleteFully, deleteInBatches } from './deletion.ts';
import { type Download, openItem } from './download.ts';
import { RequestFailedError } from './errors.ts';
import { type CallOptions, type ClientOptions, Http, type Path, type Query } from './http.ts';
import { Kinds } from './kinds.ts';
import type {
  BalanceOptions,
  CreateOptions,
  EndUserListOptions,
  ModelsOptions,
  PageOptions,
  ReadOptions,
  RequestListOptions,
  RunOptions,
  UsageOptions,
  WaitOptions,
} from './options.ts';
import { type Page, PageList } from './pages.ts';
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
  NewQuote,
  NewUpload,
  NewVideo,
  QueuedImages,
  QueuedVideo,
  Quote,
  Upload,
  Usage,
  VideoItem,
  VideoModelId,
  VideoRecord,
} from './types.ts';
import { sendFile, type WithFiles, withUrls } from './upload.ts';
import { type FinishedImages, type FinishedVideo, isVideo, type Succeeded, waitForEnd } from './waiting.ts';

/** The ids that the document names, without any other text. */
type Named<Id> = Id extends string ? (string extends Id ? never : Id) : never;

const recordPath = (requestId: string): Path => [isVideo(requestId) ? 'videos' : 'generations', requestId];

/**
 * The generation service. Methods throw subclasses of `GenerationServiceError`: `ApiError` for a refusal, else
 * `ConnectionError`, `TimeoutError` or `AbortedError`.
 */
export class GenerationClient {
  readonly #http: Http;
  readonly #kinds = new Kinds();

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

  /** Asks what a creation would cost now, and makes and debits nothing. Rejects where the operator publishes no rates. */
  quote(body: NewQuote, options?: CallOptions): Promise<Quote> {
    return this.#http.call('POST', ['quotes'], options, { body });
  }

  async #create<T>(path: Path, creation: object, options: CreateOptions = {}): Promise<T> {
    // An empty key too: a creation without one may not be repeated.
    const idempotencyKey = options.idempotencyKey || crypto.randomUUID();
    const body = await withUrls(creation, (file) => this.upload(file, options));
    return this.#http.call('POST', path, options, { body, idempotencyKey });
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
    const kind = await this.#kinds.of(body.model, () => this.listModels(options));
    const path = [kind === 'video' ? 'videos' : 'generations'];
    const request = await this.#create<{ requestId: string; status: string; referencesCount: number }>(
      path,
      body,
      options,
    );
    return this.waitForSuccess(request, options);
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
    return this.#http.call('POST', ['uploads'], options, { body });
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
    path: Path,
    options: ReadOptions | BalanceOptions | ModelsOptions = {},
    query: Query = { include: options.include },
  ): Promise<T> {
    return this.#http.call('GET', path, options, { query });
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
    request: { requestId: string; status?: string },
    options: WaitOptions = {},
  ): Promise<FinishedImages | FinishedVideo> {
    return waitForEnd(request, options, () => this.#read(recordPath(request.requestId), options));
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
  download(item: ImageItem | VideoItem, { signal }: CallOptions = {}): Promise<Download> {
    const path = recordPath(item.id.slice(0, item.id.lastIndexOf('_')));
    return openItem(item, this.#http.options.fetch, signal, () => this.#read(path, { signal }));
  }

  /** Requests for images, newest first. */
  listImages(options?: RequestListOptions): PageList<GenerationRecord> {
    return this.#list(['generations'], options, 'requestId');
  }

  /** Requests for videos, newest first. */
  listVideos(options?: RequestListOptions): PageList<VideoRecord> {
    return this.#list(['videos'], options, 'requestId');
  }

  /** End-users, newest first. */
  listEndUsers(options?: EndUserListOptions): PageList<EndUser> {
    return this.#list(['end-users'], options, 'email');
  }

  /** Changes of the balance, newest first. */
  listBalanceHistory(options?: PageOptions): PageList<BalanceHistoryEntry> {
    return this.#list(['balance', 'history'], options, 'id');
  }

  #list<Item>(path: Path, options: PageOptions = {}, idField: keyof Item): PageList<Item> {
    const { signal, headers, onResponse, page: first = 1, ...filter } = options;
    return new PageList(
      (page, next) => this.#read<Page<Item>>(path, options, { ...filter, page, ...next }),
      idField,
      first,
    );
  }

  /**
   * Deletes a finished request with its files. When the answer to an earlier attempt was lost and the request is gone,
   * it is taken for deleted, with a count of 0.
   */
  deleteRequest(requestId: string, options?: CallOptions): Promise<DeletedRequest> {
    return deleteFully(
      this.#http,
      ['generations', requestId],
      { requestId, deleted: true, removedObjects: 0 },
      options,
    );
  }

  /** Deletes any number of requests, 200 a call. The counts are lower when an answer was lost and a call repeated. */
  deleteRequests(requestIds: readonly string[], options?: CallOptions): Promise<BulkDeletion> {
    return deleteInBatches(this.#http, requestIds, options);
  }

  /** Blocks an end-user. */
  blockEndUser(email: string, options?: CallOptions): Promise<EndUserBlock> {
    return this.#http.call('POST', ['end-users', email, 'block'], options);
  }

  /** Unblocks an end-user. */
  unblockEndUser(email: string, options?: CallOptions): Promise<EndUserBlock> {
    return this.#http.call('POST', ['end-users', email, 'unblock'], options);
  }

  /** Limits on the spending of an end-user, and the spending. */
  getBudget(email: string, options?: CallOptions): Promise<EndUserBudget> {
    return this.#read(['end-users', email, 'budget'], options);
  }

  /** Sets what an end-user may spend, in xTokens. `null`, or missing: any amount. */
  setBudget(email: string, body: Budget, options?: CallOptions): Promise<EndUserBudget> {
    return this.#http.call('PUT', ['end-users', email, 'budget'], options, { body });
  }

  /**
   * Deletes an end-user with every request and file, in as many calls as it takes. The counts cover the last call
   * only, not earlier calls that ended with 503 or lost their answer.
   */
  deleteEndUser(email: string, options?: CallOptions): Promise<DeletedEndUser> {
    return deleteFully(
      this.#http,
      ['end-users', email],
      { email, deleted: true, removedRequests: 0, removedObjects: 0 },
      options,
    );
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
  async listModels(options?: ModelsOptions): Promise<readonly Model[]> {
    return (await this.#read<Models>(['models'], options)).data;
  }
}
