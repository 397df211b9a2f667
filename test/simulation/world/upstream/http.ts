import { type CreationCall, PATIENCE_MS, SAME_ID } from '../../evidence/evidence.ts';
import { RECONCILER } from '../aws/lambda.ts';
import { CLOCKS_APART_MS, deadlineMs, MARGIN_MS } from '../clocks.ts';
import { makeCall, STALLED_MS } from '../engine/effects.ts';
import { invocations, never, unlessAborted } from '../engine/invocation.ts';
import { isProvider, PROVIDERS, type Service } from '../engine/outages.ts';
import { Part } from '../part.ts';
import type { World } from '../world.ts';
import type { Providers } from './providers.ts';

export interface HttpRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal | undefined;
  /** The creation call that it is, for a provider. */
  creation?: CreationCall | undefined;
}

export interface HttpAnswer {
  status: number;
  bytes: Uint8Array;
  headers?: Record<string, string>;
}

/** Whoever answers at a host. */
export type Site = (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;

const TURN_AWAY_MS = 10;
/** How long a provider that is too busy to say a task's state wants to be left alone. */
const HOLD_OFF_MS = 45_000;
/** How long a provider whose quota is used up wants to be left alone, and how much of that counts: it is tried at least once a minute. */
const QUOTA_MS = 3_600_000;
const COUNTED_MS = 60_000;
/** How long it takes to record that. Another query may be on its way meanwhile. */
const HEARD_MS = 1_000;
/** How long a run of the loop may act on what it read before a concurrent run recorded the provider's answer. */
const HEARD_BY_OTHER_MS = 5_000;
/** Status and code of each provider. */
const TURNED_AWAY = {
  throttles: [429, 'RateLimitExceeded', 'Throttling.RateQuota'],
  revoked: [401, 'AuthenticationError', 'InvalidApiKey'],
  breaks: [503, 'InternalServiceError', 'InternalError'],
  quota: [429, 'QuotaExceeded', 'Throttling.AllocationQuota'],
} as const;

/** Where the providers' files are. */
export const FILE_HOST = 'files.provider.example';

const ERRORS = { throttled: 'ECONNREFUSED', refused: 'ECONNREFUSED', lost: 'ECONNRESET' };

/** The network beyond AWS: one try a request, which can fail before or after the site has seen it. */
export class Http extends Part {
  /** Other sites, by host name. */
  readonly sites = new Map<string, Site>();
  /** Called with each try of a request to a host, before the try can fail. */
  readonly watchers = new Map<string, (request: HttpRequest) => void>();
  private readonly providers: Providers;

  constructor(world: World, providers: Providers) {
    super(world);
    this.providers = providers;
  }

  async request(request: HttpRequest): Promise<HttpAnswer> {
    const { signal } = request;
    const url = new URL(request.url);
    const own = this.sites.get(url.hostname);
    const site: Site = own ?? ((asked) => this.providers.answer(asked));
    signal?.throwIfAborted();
    this.watchers.get(url.hostname)?.(request);
    if (url.hostname === FILE_HOST) return this.fetchFile(request, url, site);
    const isCreation = request.method === 'POST' && !url.pathname.endsWith('/cancel');
    if (own || !isCreation) return this.send(request, url, site);
    return this.create(request, url, site);
  }

  /** A call that creates something. What becomes of its answer is kept as evidence. */
  private async create(request: HttpRequest, url: URL, site: Site): Promise<HttpAnswer> {
    const { evidence, scheduler } = this.world;
    const to = { provider: serviceOf(url.hostname) ?? '', account: secretOf(request) };
    const creation = evidence.send(invocations.getStore(), to, scheduler.now);
    this.world.onSend?.(creation);
    try {
      const answer = await this.send({ ...request, creation }, url, site);
      Object.assign(creation, { end: 'answered', status: answer.status });
      return answer;
    } catch (error) {
      const isEarly = request.signal?.aborted === true && scheduler.now - creation.sentAt < PATIENCE_MS;
      const isUnreached = (error as { code?: string }).code === ERRORS.refused;
      if (isUnreached) creation.end = 'unreached';
      else creation.end = isEarly ? 'early' : 'lost';
      throw error;
    } finally {
      creation.settledAt = scheduler.now;
    }
  }

  /** A call for a file that a provider made. */
  private async fetchFile(request: HttpRequest, url: URL, site: Site): Promise<HttpAnswer> {
    const refused = (): void => this.world.evidence.refusedFiles.add(request.url);
    try {
      const answer = await this.send(request, url, site);
      if (answer.status >= 400) refused();
      return answer;
    } catch (error) {
      refused();
      throw error;
    }
  }

  /** A task is asked about before its provider wants to be asked: only when what it said was not kept. */
  private judgeQuery(task: string): void {
    const { evidence, lambda, scheduler } = this.world;
    const held = evidence.heldOff.get(task);
    // Two requests have a task with this id. A pause holds for the request whose query was answered with the pause.
    if (task === SAME_ID) return;
    if (!held || scheduler.now >= held.untilMs - MARGIN_MS) return;
    const areTwo = lambda.twoAtWorkAt(RECONCILER) >= held.atMs - HEARD_BY_OTHER_MS;
    if (scheduler.now < held.atMs + (areTwo ? HEARD_BY_OTHER_MS : HEARD_MS)) return;
    if (evidence.faultAt >= held.atMs) return;
    // At its deadline a task is asked about for the last time.
    const [first] = evidence.callsOfTask(task);
    const dueMs = first && first.sentAt + deadlineMs(first.requestId.startsWith('vid_') ? 'video' : 'image');
    if (dueMs !== undefined && scheduler.now >= dueMs - CLOCKS_APART_MS) return;
    this.report(
      `[hasty] ${task} was asked about ${held.untilMs - scheduler.now} ms before its provider wants to be asked`,
    );
  }

  /** Whether a provider takes the key of a call, as one of its accounts. */
  private takesKey(service: Service, request: HttpRequest): boolean {
    const name = secretOf(request);
    const isOfAccount = name.startsWith(`arn:${service}@`);
    return this.world.secrets.takes(isOfAccount ? name : `arn:${service}-key`, keyOf(request));
  }

  /** The answer of a server that is too busy or broken, or does not take our credential. */
  private async turnAway(service: Service | undefined, mode: keyof typeof TURNED_AWAY): Promise<HttpAnswer> {
    const { outages, scheduler } = this.world;
    outages.met++;
    this.world.disturb(service);
    await scheduler.sleep(TURN_AWAY_MS);
    if (invocations.getStore()?.dead) return never();
    const [status, ark, studio] = TURNED_AWAY[mode];
    if (service === 'fal') return jsonAnswer(status, { detail: 'refused' });
    return jsonAnswer(status, service === 'modelark' ? { error: { code: ark } } : { code: studio });
  }

  private async send(request: HttpRequest, url: URL, site: Site): Promise<HttpAnswer> {
    const { signal } = request;
    const { evidence, scheduler } = this.world;
    const service = isOfKeys(url) ? undefined : serviceOf(url.hostname);
    const mode = this.world.outages.modeOf(service);
    const task = request.method === 'GET' && service !== 'files' ? taskIdIn(url) : '';
    if (task !== '') this.judgeQuery(task);
    if (task !== '') this.world.log(() => `  query of ${task}${mode === undefined ? '' : `: ${mode}`}`);
    const told = (end: 'told' | 'refused' | 'unanswered'): void => {
      if (task !== '') evidence.query(task, end, scheduler.now);
    };
    if (mode === 'revoked' || (isProvider(service) && !this.takesKey(service, request))) {
      told('refused');
      return this.turnAway(service, 'revoked');
    }
    if (mode === 'breaks') {
      told('unanswered');
      return this.turnAway(service, mode);
    }
    if (mode === 'quota' && request.creation) {
      request.creation.retryAt = scheduler.now + COUNTED_MS;
      // The other provider throttles in this way.
      request.creation.isQuota = service === 'modelark';
      const answer = await this.turnAway(service, mode);
      return { ...answer, headers: { 'retry-after': String(QUOTA_MS / 1000) } };
    }
    if (mode === 'throttles') {
      const answer = await this.turnAway(service, mode);
      if (task === '') return answer;
      told('unanswered');
      evidence.heldOff.set(task, { untilMs: scheduler.now + HOLD_OFF_MS, atMs: scheduler.now });
      return { ...answer, headers: { 'retry-after': String(HOLD_OFF_MS / 1000) } };
    }
    const answered = makeCall(this.world, {
      name: `${request.method} ${url.hostname}${url.pathname}`,
      service,
      maxTries: 1,
      // Its caller gives up by its signal.
      answerMs: undefined,
      slowestMs: STALLED_MS,
      perform: () => site(request),
      errors: ERRORS,
    });
    try {
      const answer = await unlessAborted(answered, signal);
      if (task !== '' && !isJson(answer)) this.world.leaveUnread(service);
      // Of fal's two answers about a task that has come to its end, the second decides.
      const isHalf = answer.status === 200 && isJson(answer) && url.pathname.endsWith('/status');
      if (!isHalf) told(isJson(answer) ? 'told' : 'refused');
      return answer;
    } catch (error) {
      told('unanswered');
      throw error;
    }
  }
}

const keyOf = ({ headers }: Pick<HttpRequest, 'headers'>): string =>
  String(headers.authorization).replace(/^(Bearer|Key) /, '');

/** The secret whose value is the key of a call: each account at a provider has its own. */
export const secretOf = (request: Pick<HttpRequest, 'headers'>): string => keyOf(request).split(' ')[0] ?? '';

/** The task that a provider is asked about. */
export const taskIdIn = ({ pathname }: URL): string =>
  decodeURIComponent(/\/(?:tasks|requests)\/([^/]+)/.exec(pathname)?.[1] ?? '');

/** Whether a call reads the keys of fal's callbacks, which are at a server of their own. */
export const isOfKeys = ({ pathname }: URL): boolean => pathname.endsWith('/.well-known/jwks.json');

const serviceOf = (hostname: string): Service | undefined => {
  if (hostname === FILE_HOST) return 'files';
  return PROVIDERS.find((provider) => hostname.startsWith(provider));
};

const isJson = ({ bytes }: HttpAnswer): boolean => String.fromCharCode(bytes[0] ?? 0) === '{';

/** An answer with a JSON body. */
export const jsonAnswer = (status: number, body: unknown): HttpAnswer => ({
  status,
  bytes: Buffer.from(JSON.stringify(body)),
});
