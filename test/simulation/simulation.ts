import { apiKeyKey } from '../../core/table/keys.ts';
import type { Action, ModelName } from './actions.ts';
import { type Answer, type ApiCall, callApi, callPatiently, codeOf } from './api.ts';
import { outside } from './engine/invocation.ts';
import { Expiry } from './expiry.ts';
import { Liveness } from './liveness.ts';
import { operators } from './operators.ts';
import { Schedule } from './schedule.ts';
import { Standing } from './standing.ts';
import { promptOf } from './upstream/providers.ts';
import { webhookUrlOf } from './upstream/receivers.ts';
import { type Life, Witness } from './witness.ts';
import type { World } from './world.ts';

/** An account with its key. */
export interface Caller {
  accountId: string;
  apiKey: string;
  keyId: string;
}

type Create = Extract<Action, { do: 'create' }>;

/** One wish of a caller for outputs, however often it was sent. */
export interface Creation {
  prompt: string;
  /** How many calls its provider is due for each request it led to. */
  plannedCalls: number;
  answers: Answer[];
  unanswered: number;
}

const USERS = ['ada@example.com', 'bob@example.com', 'eve@example.com'];
/** The end-user whom nobody blocks or removes. */
export const LAST_USER = 2;
/** `img_` and a ULID. */
const ID_LENGTH = 30;
/** How long an end-user waits after a provider was late: decisions, section 8. */
const PAUSE_MS = 180_000;
const REPEAT_AFTER_MS = 1_000;
/** How long after a fault or an outage calls may still suffer from it. */
const CALM_AFTER_MS = 120_000;
/** Machines' clocks differ by so much at most, and an instant is judged by either of two. */
const CLOCKS_APART_MS = 4_000;

/** The service under simulation: does what callers, providers and operators do, and judges every answer at once. */
export class Simulation {
  readonly world: World;
  readonly witness: Witness;
  readonly schedule: Schedule;
  readonly liveness: Liveness;
  readonly standing: Standing;
  readonly expiry: Expiry;
  readonly callers: Caller[] = [];
  readonly creations: Creation[] = [];
  /** How many changes operators made to balances: each has a reference of its own. */
  changes = 0;
  /** The requests of which an operator stopped the delivery of a webhook: nobody starts it again. */
  readonly deliveriesAborted = new Set<string>();
  /** Whether callers who are told to slow down wait and call again: once everything is at rest. */
  isPatient = false;
  /** What any answer got wrong. */
  readonly violations: string[] = [];
  private readonly underWay = new Set<Promise<void>>();
  private readonly keys = new Map<string, { body: string; requestId: string; at: number }>();
  private readonly readAs = new Map<string, { status: string; answeredAt: number }>();

  constructor(world: World) {
    this.world = world;
    this.witness = new Witness(world);
    this.schedule = new Schedule(world);
    const plannedCallsOf = ({ prompt }: Life): number =>
      this.creations.find((creation) => creation.prompt === prompt)?.plannedCalls ?? 0;
    this.liveness = new Liveness(world, this.witness, plannedCallsOf);
    this.standing = new Standing(world, this.witness);
    this.expiry = new Expiry(world, this.witness);
    this.liveness.onEnd = (life) => this.expiry.await(life);
    this.witness.onAccept = (life) => {
      this.liveness.begin();
      this.standing.judgeAccepted(life);
    };
  }

  /** Whether nothing is left that an action began. */
  get isIdle(): boolean {
    return this.underWay.size === 0;
  }

  /** Begins an action; what it leads to happens as time passes. */
  begin(action: Action): void {
    this.world.note(() => `* ${JSON.stringify(action)}`);
    const done = outside(() => this.perform(action)).catch((error: unknown) => this.world.break(error));
    this.underWay.add(done);
    done.finally(() => this.underWay.delete(done));
  }

  /** The requests that were accepted, oldest first. */
  lives(): Life[] {
    return [...this.witness.lives.values()];
  }

  private async perform(action: Action): Promise<void> {
    const { world } = this;
    switch (action.do) {
      case 'create':
        return this.create(action);
      case 'read':
        return this.onLife(action.request, async (life) => void (await this.read(life)));
      case 'delete':
        return this.onLife(action.request, (life) => this.remove(life));
      case 'intrude':
        return this.onLife(action.request, (life) => this.judgeForeign(life));
      case 'bulk-delete':
        return this.removeAll(action.requests);
      case 'list':
        return this.list(action.account);
      case 'balance':
        return this.readBalance(action.account);
      case 'block':
      case 'unblock':
      case 'delete-user': {
        const route = {
          block: 'block-end-user',
          unblock: 'unblock-end-user',
          'delete-user': 'delete-end-user',
        };
        const email = USERS[action.user] as string;
        const change = this.standing.beginChange(this.accountIdOf(action.account), email, action.do);
        const call = { route: route[action.do], parameters: { email } };
        const { result } = await this.standing.whileDeleting(() => this.call(action.account, call));
        this.standing.endChange(change, result);
        return;
      }
      case 'callback':
      case 'forged-callback': {
        const { callbackUrls } = world.providers;
        const url = callbackUrls[action.pick % callbackUrls.length];
        if (url) world.receiveCallback(action.do === 'callback' ? url : `${url}0`);
        return;
      }
      case 'abort': {
        const running = world.stepFunctions.running();
        const execution = running[action.pick % running.length];
        if (!execution) return;
        if (execution.machine === 'webhook-delivery')
          this.deliveriesAborted.add(execution.name.slice(0, ID_LENGTH));
        else if (execution.machine === 'generation') world.evidence.interventions.add(execution.name);
        world.stepFunctions.abort(execution);
        return;
      }
      case 'redeliver': {
        const { history } = world.lambda;
        const past = history[action.pick % history.length];
        if (past) world.lambda.redeliver(past.fn, past.payload, 0);
        return;
      }
      case 'sweep':
        world.table.sweep();
        return;
      case 'wait':
        return;
      case 'reconcile':
        await this.schedule.runNow();
        return;
      default:
        await operators(this, action);
    }
  }

  private async call(account: number, call: Omit<ApiCall, 'apiKey'>): Promise<Answer> {
    const { apiKey } = this.callers[account] as Caller;
    const startedAt = this.world.scheduler.now;
    const send = this.isPatient ? callPatiently : callApi;
    const answer = await send(this.world, { ...call, apiKey });
    this.standing.judgeCall(this.accountIdOf(account), call.route, startedAt, answer);
    const isCalm = startedAt > this.world.evidence.disturbedAt + CALM_AFTER_MS;
    if (isCalm && this.isOurFault(account, answer)) {
      this.violations.push(`[calm] ${call.route} was answered with ${answer.status} and nothing was wrong`);
    }
    return answer;
  }

  /** Whether nothing that the caller did explains an answer: it was not paused, and did not call too often. */
  private isOurFault(account: number, answer: Answer): boolean {
    if (answer.status >= 500) return codeOf(answer) !== 'temporarily_unavailable';
    const key = this.world.table.get({ ...apiKeyKey(this.callers[account]?.keyId ?? '') });
    return answer.status === 429 && Number(key?.allowAt) < this.world.scheduler.now - CLOCKS_APART_MS;
  }

  private accountIdOf(account: number): string {
    return this.callers[account]?.accountId ?? '';
  }

  private async list(account: number): Promise<void> {
    const startedAt = this.world.scheduler.now;
    const answer = await this.call(account, { route: 'list-generations', query: { pageSize: '3' } });
    this.standing.judgeList(this.accountIdOf(account), startedAt, answer);
  }

  private async readBalance(account: number): Promise<void> {
    const startedAt = this.world.scheduler.now;
    const answer = await this.call(account, { route: 'get-balance' });
    this.standing.judgeBalance(this.accountIdOf(account), startedAt, answer);
    this.standing.judgeHistory(await this.call(account, { route: 'list-balance-history' }));
  }

  private async create(action: Create): Promise<void> {
    const { behaviour, callback, account, key } = action;
    const video = action.model.startsWith('xW');
    const prompt = promptOf(`p${this.creations.length}`, behaviour, callback);
    const body = {
      ...bodyOf(action.model, action.outputs),
      ...(action.webhook === undefined ? {} : { webhookUrl: webhookUrlOf(action.webhook) }),
      prompt,
      endUserEmail: USERS[action.user],
    };
    const calls = action.model === 'xSD4.5' ? action.outputs : 1;
    const creation: Creation = { prompt, plannedCalls: calls, answers: [], unanswered: 0 };
    this.creations.push(creation);
    // A key names one body: what else is sent with it is refused, and a few keys are used again and again.
    const idempotencyKey = key === undefined ? undefined : `key ${key} ${this.creations.length >> 1}`;
    const route = video ? 'create-video' : 'create-generation';
    const send = async (): Promise<void> => {
      for (let attempt = 0; attempt <= action.repeats; attempt++) {
        if (attempt > 0) await this.world.scheduler.sleep(REPEAT_AFTER_MS);
        creation.unanswered++;
        const answer = await this.call(account, { route, body, idempotencyKey });
        creation.unanswered--;
        creation.answers.push(answer);
        this.judgePause(action, answer);
        this.judgeCreation(creation, answer, idempotencyKey && `${account} ${route} ${idempotencyKey}`);
        if (answer.status < 500 && answer.status !== 429) return;
      }
    };
    if (action.beside) {
      const { do: what, afterMs } = action.beside;
      this.world.scheduler.after(afterMs, () => this.begin({ do: what, account, user: action.user }));
    }
    await Promise.all(Array.from({ length: action.atOnce }, send));
  }

  /** Only a request of the same end-user and model that found no provider in time pauses them, for three minutes. */
  private judgePause({ account, user, model }: Create, answer: Answer): void {
    if (codeOf(answer) !== 'temporarily_unavailable') return;
    const since = this.world.scheduler.now - PAUSE_MS - CLOCKS_APART_MS;
    const isCause = ({ accountId, email, accepted, last, endedAt }: Life): boolean =>
      accountId === this.accountIdOf(account) &&
      email === USERS[user] &&
      accepted.model === model &&
      (last.error as { code?: string } | undefined)?.code === 'provider_timeout' &&
      endedAt > since;
    if (!this.lives().some(isCause))
      this.violations.push(`[pause] ${USERS[user]} is paused and no provider was late`);
  }

  /** A creation of which nothing stands in the way is accepted. */
  judgeServed(): void {
    const { answers = [], prompt } = this.creations.at(-1) ?? {};
    const refused = answers.find(({ status }) => status !== 202);
    if (answers.length === 0) this.violations.push(`[refused] ${prompt} was not answered at rest`);
    if (refused)
      this.violations.push(`[refused] ${prompt} was answered ${refused.status} ${codeOf(refused)} at rest`);
  }

  private judgeCreation(creation: Creation, answer: Answer, key: string | undefined): void {
    const { now } = this.world.scheduler;
    if (answer.status === 202) {
      const requestId = String(answer.body.requestId);
      const life = this.witness.lives.get(requestId);
      if (life?.prompt !== creation.prompt)
        this.violations.push(`${requestId} was answered and not accepted`);
      if (key === undefined) return;
      const known = this.keys.get(key);
      const kept = known !== undefined && now - known.at < 86_400_000 - CLOCKS_APART_MS;
      if (kept && known.requestId !== requestId) {
        this.violations.push(`${key} led to ${known.requestId} and to ${requestId}`);
      }
      if (!kept) this.keys.set(key, { body: creation.prompt, requestId, at: life?.acceptedAt ?? now });
      return;
    }
    const isRefused = ({ status, body }: Answer): boolean =>
      (status >= 400 && status < 500) ||
      (body.error as { code?: string } | undefined)?.code === 'temporarily_unavailable';
    if (creation.unanswered > 0 || !creation.answers.every(isRefused)) return;
    const written = this.lives().filter(({ prompt }) => prompt === creation.prompt);
    if (written.length > 0)
      this.violations.push(`${creation.prompt} was refused and accepted: ${codeOf(answer)}`);
  }

  private async onLife(index: number, act: (life: Life) => Promise<void>): Promise<void> {
    const lives = this.lives();
    // The newest are the most likely to be in the middle of something.
    const life = lives[lives.length - 1 - (index % Math.max(1, lives.length))];
    if (life) await act(life);
  }

  private callerOf(life: Life): number {
    return this.callers.findIndex(({ accountId }) => accountId === life.accountId);
  }

  /** Reads a request and judges what it reads as. */
  async read(life: Life): Promise<Answer> {
    const { requestId } = life;
    const before = this.readAs.get(requestId);
    const wasRemoved = life.removedAt !== undefined;
    const startedAt = this.world.scheduler.now;
    const route = life.accepted.kind === 'video' ? 'get-video' : 'get-generation';
    const answer = await this.call(this.callerOf(life), { route, parameters: { requestId } });
    if (answer.status === 404 && life.removedAt === undefined && !this.isPastRetention(life)) {
      this.violations.push(`${requestId} reads as absent and is there`);
    }
    if (answer.status !== 200) return answer;
    if (wasRemoved) this.violations.push(`${requestId} was removed and reads as ${answer.body.status}`);
    const status = String(answer.body.status);
    if (before && before.answeredAt < startedAt && rankOf(status) < rankOf(before.status)) {
      const expiresAt = Date.parse(String(life.last.expiresAt ?? 0));
      const atExpiry = before.status === 'expired' && Math.abs(startedAt - expiresAt) < CLOCKS_APART_MS;
      if (!atExpiry) this.violations.push(`${requestId} read ${before.status} and then ${status}`);
    }
    this.readAs.set(requestId, { status, answeredAt: this.world.scheduler.now });
    return answer;
  }

  private isPastRetention({ last }: Life): boolean {
    return typeof last.ttl === 'number' && last.ttl * 1000 - CLOCKS_APART_MS < this.world.scheduler.now;
  }

  /** Another account finds nothing there. */
  private async judgeForeign({ requestId, accountId, accepted }: Life): Promise<void> {
    const other = this.callers.findIndex((caller) => caller.accountId !== accountId);
    const reading = { route: accepted.kind === 'video' ? 'get-video' : 'get-generation' };
    for (const { route } of [reading, { route: 'delete-generation' }]) {
      const { status } = await this.call(other, { route, parameters: { requestId } });
      if (status < 400)
        this.violations.push(`[foreign] ${route} of ${requestId} was answered to another account`);
    }
  }

  private async remove(life: Life): Promise<void> {
    const { requestId } = life;
    const before = String(life.last.status);
    this.standing.beginDeletion(life.accountId, [life]);
    const call = { route: 'delete-generation', parameters: { requestId } };
    const { result: answer } = await this.standing.whileDeleting(() => this.call(this.callerOf(life), call));
    const isThere = life.removedAt === undefined;
    if (answer.status === 200 && isThere) this.violations.push(`${requestId} was deleted and is there`);
    if (answer.status === 404 && isThere && !this.isPastRetention(life)) {
      this.violations.push(`${requestId} is not found and is there`);
    }
    if (answer.status === 409 && (before === 'succeeded' || before === 'failed')) {
      this.violations.push(`${requestId} is ${before} and cannot be deleted`);
    }
  }

  private async removeAll(picks: readonly number[]): Promise<void> {
    const lives = this.lives();
    if (lives.length === 0) return;
    const picked = [...new Set(picks.map((index) => lives[index % lives.length] as Life))];
    const requestIds = picked.map(({ requestId }) => requestId);
    this.standing.beginDeletion(this.accountIdOf(0), picked);
    const startedAt = this.world.scheduler.now;
    const { result, isAlone } = await this.standing.whileDeleting(() =>
      this.call(0, { route: 'bulk-delete-generations', body: { requestIds } }),
    );
    this.standing.judgeBulk(picked, this.accountIdOf(0), startedAt, isAlone, result);
  }
}

const RANK: Record<string, number> = { queued: 0, processing: 1, succeeded: 2, failed: 2, expired: 3 };

const rankOf = (status: string): number => RANK[status] ?? 0;

const bodyOf = (model: ModelName, outputs: number): Record<string, unknown> => {
  switch (model) {
    case 'xSD4.5':
    case 'xQI3Pro':
      return { model, n: outputs };
    case 'xZI1.0Pro':
      return { model };
    case 'xW2.7S':
      return { model, image: 'https://images.example.com/first.png', durationSec: 1 + outputs };
    case 'xW3.0s':
      return { model, durationSec: 1 + outputs };
  }
};
