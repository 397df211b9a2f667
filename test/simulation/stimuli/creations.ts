import { listModelRoutes } from '../../../core/provider-calls/model-routes.ts';
import { requestPartition } from '../../../core/table/keys.ts';
import { errorCodeOf, type Life } from '../evidence/witness.ts';
import { problemsOf } from '../rules/problems.ts';
import type { Simulation } from '../runs/simulation.ts';
import { CLOCKS_APART_MS, deadlineMs } from '../world/clocks.ts';
import { kindOf, type Service } from '../world/engine/outages.ts';
import { Part } from '../world/part.ts';
import { type ClipKind, clipUrlOf } from '../world/upstream/clips.ts';
import { webhookUrlOf } from '../world/upstream/receivers.ts';
import { promptOf } from '../world/upstream/wire-formats.ts';
import type { Action, ModelName, Removal } from './actions.ts';
import { type Answer, codeOf } from './api.ts';

type Create = Extract<Action, { do: 'create' }>;
type Crowd = Extract<Action, { do: 'crowd' }>;

/** One wish of a caller for outputs, however often it was sent. */
export interface Creation {
  prompt: string;
  answers: Answer[];
  unanswered: number;
}

/** Every caller's end-users. */
export const USERS = ['ada@example.com', 'bob@example.com', 'eve@example.com'];
/** The end-user whom nobody blocks or removes. */
export const LAST_USER = 2;
/** How long an end-user waits after a provider was late: decisions, section 8. */
const PAUSE_MS = 180_000;
const REPEAT_AFTER_MS = 1_000;
/** In xTokens: one image or two. */
const LOW_BUDGET = 6;
/** How long after the deadline it is ours again. */
const AFTER_DEADLINE_MS = 60_000;
/** The credit of an account for the requests of its crowd, and the behaviours of the requests at the provider. */
const CROWD_AMOUNT = 200;
const CROWD_SIZE = 6;
const CROWD_BEHAVIOURS = ['instant', 'instant', 'works'] as const;

/** A key is kept from the beginning of its call, which a disturbed table answers this much later at most. */
const ANSWERED_WITHIN_MS = 60_000;

/** The creations of every caller, and what their answers got wrong. */
export class Creations extends Part {
  readonly all: Creation[] = [];
  private readonly removals = new Map<string, { account: number; user: number; removal: Removal }>();
  private readonly keys = new Map<string, { requestId: string; at: number }>();
  private readonly around: Simulation;

  constructor(around: Simulation) {
    super(around.world);
    this.around = around;
  }

  /** Sends a creation as often as a caller does, and judges every answer. */
  async create(action: Create): Promise<void> {
    const { callback, account, key } = action;
    const behaviour = action.revokedMs === undefined ? action.behaviour : 'never';
    const video = action.model.startsWith('xW');
    const prompt = promptOf(`p${this.all.length}`, behaviour, callback);
    const body = {
      ...bodyOf(action.model, action.outputs),
      ...(action.model === 'xW3.0s' && action.clips ? withClips(action.clips) : {}),
      ...(action.webhook === undefined ? {} : { webhookUrl: webhookUrlOf(action.webhook) }),
      prompt,
      endUserEmail: USERS[action.user],
    };
    if (action.fault) this.world.faults.add(action.fault);
    if (action.revokedMs !== undefined) this.revoke(action.model, action.revokedMs);
    if (action.afterEnd) this.plan(prompt, action, action.afterEnd);
    const creation: Creation = { prompt, answers: [], unanswered: 0 };
    this.all.push(creation);
    // A key names one body: what else is sent with it is refused, and a few keys are used again and again.
    const idempotencyKey = key === undefined ? undefined : `key ${key} ${this.all.length >> 1}`;
    const route = video ? 'create-video' : 'create-generation';
    const send = async (): Promise<void> => {
      for (let attempt = 0; attempt <= action.repeats; attempt++) {
        if (attempt > 0) await this.world.scheduler.sleep(REPEAT_AFTER_MS);
        creation.unanswered++;
        const answer = await this.around.call(account, { route, body, idempotencyKey });
        creation.unanswered--;
        creation.answers.push(answer);
        this.judgePause(action, answer);
        this.judgeCreation(creation, answer, idempotencyKey && `${account} ${route} ${idempotencyKey}`);
        if (answer.status < 500 && answer.status !== 429) return;
      }
    };
    if (action.beside) {
      const { do: what, afterMs } = action.beside;
      this.world.scheduler.after(afterMs, () => {
        const pick = Math.max(0, this.world.witness.open().length - 1);
        const how = { amount: 1, repeats: 0, pick, perDay: LOW_BUDGET, perMonth: null };
        this.around.begin({ do: what, account, user: action.user, ...how });
      });
    }
    await Promise.all(Array.from({ length: action.atOnce }, send));
  }

  /** Begins many short creations, so that some begin to wait at the moment when earlier creations end. */
  async crowd({ account, user, model, count, everyMs }: Crowd): Promise<void> {
    const { random, scheduler } = this.world;
    this.around.begin({
      do: 'top-up',
      account,
      amount: CROWD_AMOUNT * Math.ceil(count / CROWD_SIZE),
      repeats: 0,
    });
    for (let index = 0; index < count; index++) {
      await scheduler.sleep(random.whole(0, 2 * everyMs));
      const behaviour = random.pick(CROWD_BEHAVIOURS);
      const outputs = random.whole(1, 2);
      const repeats = { webhook: undefined, key: undefined, repeats: 0, atOnce: 1 } as const;
      const how = { behaviour, callback: 'once', outputs, ...repeats } as const;
      this.around.begin({ do: 'create', account, user, model, ...how });
    }
  }

  /**
   * The provider revokes our credential from the given time before the deadline of a request that is called now,
   * until after the deadline.
   */
  private revoke(model: ModelName, beforeMs: number): void {
    const { outages, scheduler } = this.world;
    const service = listModelRoutes()[model]?.[0]?.provider as Service;
    const lengthMs = beforeMs + AFTER_DEADLINE_MS;
    scheduler.after(deadlineMs(model.startsWith('xW') ? 'video' : 'image') - beforeMs, () =>
      outages.add({ service, mode: 'revoked', lengthMs }),
    );
  }

  private plan(prompt: string, { account, user }: Create, removal: Removal): void {
    this.removals.set(prompt, { account, user, removal });
    if (removal.lagMs === 0) return;
    // Each index is late by itself: the list of work may show what the lists of requests do not yet.
    const partition = kindOf(requestPartition(''));
    this.world.outages.add({ service: 'index', mode: 'slow', lengthMs: removal.lagMs, partition });
  }

  /** What was planned for the end of a request begins. */
  end({ requestId, prompt }: Life): void {
    const planned = this.removals.get(prompt);
    if (!planned) return;
    const { account, user, removal } = planned;
    const { outages, scheduler } = this.world;
    if (removal.outage)
      outages.add({ ...removal.outage, service: 'table', partition: requestPartition(requestId) });
    scheduler.after(removal.removeMs, () => this.around.begin({ do: 'delete-user', account, user }));
    scheduler.after(removal.removeMs + removal.reconcileMs, () => this.around.begin({ do: 'reconcile' }));
  }

  /** Only a request of the same end-user and model that found no provider in time pauses them, for three minutes. */
  private judgePause({ account, user, model }: Create, answer: Answer): void {
    if (codeOf(answer) !== 'temporarily_unavailable') return;
    const since = this.world.scheduler.now - PAUSE_MS - CLOCKS_APART_MS;
    const isCause = ({ accountId, email, accepted, last, endedAt }: Life): boolean =>
      accountId === this.around.accountIdOf(account) &&
      email === USERS[user] &&
      accepted.model === model &&
      errorCodeOf(last) === 'provider_timeout' &&
      endedAt > since;
    if (!this.world.witness.all().some(isCause))
      this.report(`[pause] ${USERS[user]} is paused and no provider was late`);
  }

  /** A creation of which nothing stands in the way is accepted. */
  judgeServed(): void {
    const { answers = [], prompt } = this.all.at(-1) ?? {};
    const refused = answers.find(({ status }) => status !== 202);
    if (answers.length === 0) this.report(`[refused] ${prompt} was not answered at rest`);
    if (refused) this.report(`[refused] ${prompt} was answered ${refused.status} ${codeOf(refused)} at rest`);
  }

  /** Whether a provider was asked for more than was planned: an answer that was lost must not be asked for again. */
  repeatedProblems(): string[] {
    const { providers, witness } = this.world;
    return problemsOf(this.all, ({ prompt }) => {
      const [marker = ''] = prompt.split(' ');
      const accepted = providers.accepted.get(marker) ?? 0;
      const led = witness.all().filter((life) => life.prompt === prompt);
      const due = led.reduce((sum, life) => sum + witness.plannedCallsOf(life), 0);
      return accepted > due && `the provider accepted ${accepted} calls of ${marker}, not ${due}`;
    });
  }

  private judgeCreation(creation: Creation, answer: Answer, key: string | undefined): void {
    const { now } = this.world.scheduler;
    if (answer.status === 202) {
      const requestId = String(answer.body.requestId);
      const life = this.world.witness.lives.get(requestId);
      if (life?.prompt !== creation.prompt) this.report(`${requestId} was answered and not accepted`);
      if (key === undefined) return;
      const known = this.keys.get(key);
      const kept = known !== undefined && now - known.at < 86_400_000 - CLOCKS_APART_MS - ANSWERED_WITHIN_MS;
      if (kept && known.requestId !== requestId)
        this.report(`${key} led to ${known.requestId} and to ${requestId}`);
      if (!kept) this.keys.set(key, { requestId, at: life?.acceptedAt ?? now });
      return;
    }
    const isRefused = (one: Answer): boolean =>
      (one.status >= 400 && one.status < 500) || codeOf(one) === 'temporarily_unavailable';
    if (creation.unanswered > 0 || !creation.answers.every(isRefused)) return;
    if (this.world.witness.all().some(({ prompt }) => prompt === creation.prompt))
      this.report(`${creation.prompt} was refused and accepted: ${codeOf(answer)}`);
  }
}

/** At the lowest price, which few seconds of an account's balance cover. */
const withClips = (kinds: readonly ClipKind[]): Record<string, unknown> => ({
  resolution: '480p',
  referenceVideos: kinds.map(clipUrlOf),
});

const bodyOf = (model: ModelName, outputs: number): Record<string, unknown> => {
  switch (model) {
    case 'xSD4.5':
    case 'xQI3Pro':
      return { model, n: outputs };
    case 'xZI1.0Pro':
      return { model };
    case 'xSD5Pro':
      // One task at fal, or two or three.
      return { model, size: '1K', n: [2, 7, 8, 13][outputs - 1] };
    case 'xW2.7S':
      return { model, image: 'https://images.example.com/first.png', durationSec: 1 + outputs };
    case 'xW3.0s':
      return { model, durationSec: 1 + outputs };
  }
};
