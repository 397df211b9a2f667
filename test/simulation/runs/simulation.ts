import { apiKeyKey } from '../../../core/table/keys.ts';
import type { Life, Witness } from '../evidence/witness.ts';
import { Admission } from '../rules/admission-rules.ts';
import { Availability } from '../rules/availability-rules.ts';
import { Budgets } from '../rules/budget-rules.ts';
import { CallbackAnswers } from '../rules/callback-rules.ts';
import { Capacity } from '../rules/capacity-rules.ts';
import { Clips } from '../rules/clip-rules.ts';
import { Deadlines } from '../rules/deadline-rules.ts';
import { Expiry } from '../rules/expiry.ts';
import { Failover } from '../rules/failover-rules.ts';
import { LeftRoutes } from '../rules/left-routes.ts';
import { Liveness } from '../rules/liveness.ts';
import { Outputs } from '../rules/output-rules.ts';
import { Permits } from '../rules/permit-rules.ts';
import { Standing } from '../rules/standing.ts';
import { Verification } from '../rules/verification.ts';
import { Waiting } from '../rules/waiting-rules.ts';
import type { Action } from '../stimuli/actions.ts';
import { type Answer, type ApiCall, callApi, callPatiently, codeOf, LISTS } from '../stimuli/api.ts';
import { Creations, USERS } from '../stimuli/creations.ts';
import { disturb } from '../stimuli/disturbances.ts';
import { OpenAiCalls } from '../stimuli/openai-calls.ts';
import { operators } from '../stimuli/operators.ts';
import { CLOCKS_APART_MS } from '../world/clocks.ts';
import { ModelSwitches } from '../world/deployments.ts';
import { outside } from '../world/engine/invocation.ts';
import { Schedule } from '../world/schedule.ts';
import type { World } from '../world/world.ts';

/** An account with its key. */
export interface Caller {
  accountId: string;
  apiKey: string;
  keyId: string;
}

/** The service under simulation: does what callers, providers and operators do, and judges every answer at once. */
export class Simulation {
  readonly world: World;
  readonly witness: Witness;
  readonly schedule: Schedule;
  readonly standing: Standing;
  readonly admission: Admission;
  readonly availability: Availability;
  readonly clips: Clips;
  readonly models: ModelSwitches;
  readonly leftRoutes: LeftRoutes;
  readonly verification: Verification;
  readonly budgets: Budgets;
  readonly callers: Caller[] = [];
  readonly creations: Creations;
  readonly openAiCalls: OpenAiCalls;
  /** How many changes operators made to balances: each has a reference of its own. */
  changes = 0;
  /** The requests of which an operator stopped the delivery of a webhook: nobody starts it again. */
  readonly deliveriesAborted = new Set<string>();
  /** Whether callers who are told to slow down wait and call again: once everything is at rest. */
  isPatient = false;
  private readonly underWay = new Set<Promise<void>>();
  private readonly readAs = new Map<string, { status: string; answeredAt: number }>();

  constructor(world: World) {
    this.world = world;
    this.witness = world.witness;
    this.admission = new Admission(world);
    new Permits(world);
    new Waiting(world);
    new Failover(world);
    new CallbackAnswers(world);
    new Outputs(world);
    this.clips = new Clips(world);
    this.verification = new Verification(world);
    this.budgets = new Budgets(world);
    this.models = new ModelSwitches(world);
    this.leftRoutes = new LeftRoutes(world);
    this.schedule = new Schedule(world, this.admission);
    this.creations = new Creations(this);
    this.openAiCalls = new OpenAiCalls(this);
    new Capacity(world);
    this.availability = new Availability(world);
    const deadlines = new Deadlines(world);
    const liveness = new Liveness(world);
    this.standing = new Standing(world);
    const expiry = new Expiry(world);
    this.witness.onEnd = (life) => {
      liveness.end(life);
      expiry.await(life);
      this.creations.end(life);
    };
    this.witness.onAccept = (life) => {
      liveness.begin();
      deadlines.await(life);
      this.availability.await(life);
      this.standing.judgeAccepted(life);
      this.clips.judgeAccepted(life);
      this.leftRoutes.judgeAccepted(life);
      this.models.judgeAccepted(life.requestId, String(life.accepted.model));
    };
  }

  /** Whether nothing is left that an action began. */
  get isIdle(): boolean {
    return this.underWay.size === 0;
  }

  /** Begins an action; what it leads to happens as time passes. */
  begin(action: Action): void {
    this.world.log(() => `* ${JSON.stringify(action)}`);
    const done = outside(() => this.perform(action)).catch((error: unknown) => this.world.break(error));
    this.underWay.add(done);
    void done.finally(() => this.underWay.delete(done));
  }

  private async perform(action: Action): Promise<void> {
    const { world } = this;
    switch (action.do) {
      case 'create':
        return this.creations.create(action);
      case 'openai':
        return this.openAiCalls.call(action);
      case 'crowd':
        return this.creations.crowd(action);
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
        const verb = action.do === 'delete-user' ? 'delete' : action.do;
        const email = USERS[action.user] as string;
        const change = this.standing.beginChange(this.accountIdOf(action.account), email, action.do);
        const call = { route: `${verb}-end-user`, parameters: { email } };
        const { result } = await this.standing.whileDeleting(() => this.call(action.account, call));
        this.standing.endChange(change, result);
        return;
      }
      case 'set-budget': {
        const parameters = { email: USERS[action.user] as string };
        const body = { perDay: action.perDay, perMonth: action.perMonth };
        await this.call(action.account, { route: 'put-end-user-budget', parameters, body });
        return;
      }
      case 'sweep':
        world.table.sweep();
        return;
      case 'wait':
        return;
      case 'verify-ledgers':
        this.verification.begin(action.full);
        return;
      case 'reconcile':
        await this.schedule.runNow();
        return;
      default:
        disturb(this, action);
        await operators(this, action);
    }
  }

  /** Calls the API as an account. */
  async call(account: number, call: Omit<ApiCall, 'apiKey'>): Promise<Answer> {
    const { apiKey } = this.callers[account] as Caller;
    const startedAt = this.world.scheduler.now;
    const isCalm = this.world.isCalm();
    const send = this.isPatient ? callPatiently : callApi;
    const answer = await send(this.world, { ...call, apiKey });
    this.standing.judgeCall(this.accountIdOf(account), call.route, startedAt, answer);
    if (isCalm && this.world.isCalm() && this.isOurFault(account, call, answer))
      this.world.report(`[calm] ${call.route} was answered with ${answer.status} and nothing was wrong`);
    return answer;
  }

  /** Whether nothing that the caller did explains an answer: it was not paused, and did not call too often. */
  private isOurFault(account: number, { body }: Omit<ApiCall, 'apiKey'>, answer: Answer): boolean {
    const clips = (body as { referenceVideos?: string[] } | undefined)?.referenceVideos;
    // Only so many are measured at once.
    if (answer.status === 429 && clips !== undefined) return false;
    if (answer.status >= 500) return codeOf(answer) !== 'temporarily_unavailable';
    const key = this.world.table.get({ ...apiKeyKey(this.callers[account]?.keyId ?? '') });
    return answer.status === 429 && Number(key?.allowAt) < this.world.scheduler.now - CLOCKS_APART_MS;
  }

  accountIdOf(account: number): string {
    return this.callers[account]?.accountId ?? '';
  }

  private async list(account: number): Promise<void> {
    for (const [kind, route] of Object.entries(LISTS)) {
      const startedAt = this.world.scheduler.now;
      const answer = await this.call(account, { route, query: { pageSize: '3' } });
      this.standing.judgeList(this.accountIdOf(account), kind, startedAt, answer);
    }
  }

  private async readBalance(account: number): Promise<void> {
    const startedAt = this.world.scheduler.now;
    const answer = await this.call(account, { route: 'get-balance' });
    this.standing.judgeBalance(this.accountIdOf(account), startedAt, answer);
    this.standing.judgeHistory(await this.call(account, { route: 'list-balance-history' }));
  }

  private async onLife(index: number, act: (life: Life) => Promise<void>): Promise<void> {
    const lives = this.witness.all();
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
    if (answer.status === 404 && life.removedAt === undefined && !this.witness.isPastRetention(life))
      this.world.report(`${requestId} reads as absent and is there`);
    if (answer.status !== 200) return answer;
    if (wasRemoved) this.world.report(`${requestId} was removed and reads as ${answer.body.status}`);
    const status = String(answer.body.status);
    if (before && before.answeredAt < startedAt && rankOf(status) < rankOf(before.status)) {
      const expiresAt = Date.parse(String(life.last.expiresAt ?? 0));
      const atExpiry = before.status === 'expired' && Math.abs(startedAt - expiresAt) < CLOCKS_APART_MS;
      if (!atExpiry) this.world.report(`${requestId} read ${before.status} and then ${status}`);
    }
    this.judgeUrls(life, answer);
    this.readAs.set(requestId, { status, answeredAt: this.world.scheduler.now });
    return answer;
  }

  /** No URL works longer than its file is there. */
  private judgeUrls({ requestId, last }: Life, { body }: Answer): void {
    const items = (body.images ?? body.videos ?? []) as { url?: string }[];
    const untilMs = Date.parse(String(last.expiresAt));
    for (const { url } of items) {
      const worksUntilMs = url === undefined ? 0 : Number(new URL(url).searchParams.get('Expires')) * 1000;
      if (worksUntilMs > untilMs)
        this.world.report(`[url] a URL of ${requestId} works after its file expired`);
    }
  }

  /** Another account finds nothing there. */
  private async judgeForeign({ requestId, accountId, accepted }: Life): Promise<void> {
    const other = this.callers.findIndex((caller) => caller.accountId !== accountId);
    const reading = { route: accepted.kind === 'video' ? 'get-video' : 'get-generation' };
    for (const { route } of [reading, { route: 'delete-generation' }]) {
      const { status } = await this.call(other, { route, parameters: { requestId } });
      if (status < 400)
        this.world.report(`[foreign] ${route} of ${requestId} was answered to another account`);
    }
  }

  private async remove(life: Life): Promise<void> {
    const { requestId } = life;
    const before = String(life.last.status);
    this.standing.beginDeletion(life.accountId, [life]);
    const call = { route: 'delete-generation', parameters: { requestId } };
    const { result: answer } = await this.standing.whileDeleting(() => this.call(this.callerOf(life), call));
    const isThere = life.removedAt === undefined;
    if (answer.status === 200 && isThere) this.world.report(`${requestId} was deleted and is there`);
    if (answer.status === 404 && isThere && !this.witness.isPastRetention(life))
      this.world.report(`${requestId} is not found and is there`);
    if (answer.status === 409 && (before === 'succeeded' || before === 'failed'))
      this.world.report(`${requestId} is ${before} and cannot be deleted`);
  }

  private async removeAll(picks: readonly number[]): Promise<void> {
    const lives = this.witness.all();
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
