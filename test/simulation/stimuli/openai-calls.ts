import { requestKey } from '../../../core/table/keys.ts';
import type { Item } from '../../unit/fakes/expressions.ts';
import type { Life } from '../evidence/witness.ts';
import { problemsOf } from '../rules/problems.ts';
import type { Simulation } from '../runs/simulation.ts';
import { Part } from '../world/part.ts';
import { promptOf } from '../world/upstream/wire-formats.ts';
import type { Action } from './actions.ts';
import { type Answer, callApi, codeOf } from './api.ts';
import { LAST_USER, USERS } from './creations.ts';

type Calls = Extract<Action, { do: 'openai' }>;

/** Equal calls of several clients, and what they were answered. */
interface Group {
  prompt: string;
  action: Calls;
  /** The requests whose images clients got. */
  given: string[];
  /** Clients that gave up without an answer, and those that were told an error. */
  unanswered: number;
  told: number;
  /**
   * Attempts that may each leave a request. Of clients that do not count retries: attempts without an answer, or with
   * a fault. Of counting clients: attempts that the client left before a new process started, which arrive after the
   * next attempt.
   */
  mayLeave: number;
  /** Attempts that were repeated: a retry may get images that another client got within 10 s. */
  repeated: number;
  startedAt: number;
  /** Whether no fault and no outage was met while the calls lasted. */
  wasCalm: boolean;
}

/** How long a new process takes to start, at most. */
const START_MS = 1_000;
/** How often a client repeats a call, and its pauses. */
const RETRIES = 2;
const BACK_OFF_MS = [500, 1_000] as const;
/** What the clients repeat. */
const isRepeated = ({ status, headers }: Answer): boolean =>
  headers?.['x-should-retry'] === 'true' ||
  (headers?.['x-should-retry'] !== 'false' && (status >= 500 || [0, 408, 409, 429].includes(status)));
const BROKEN: Answer = { status: 0, body: {} };

/** The ways of an entry from one state to another; without an entry or a request: ''. */
const WAYS = new Set(
  [
    'none begun',
    'begun none',
    'begun open',
    'open open',
    'open released',
    'open answered',
    'released open',
    // Answered again, to a retry of another call than before.
    'answered answered',
  ].concat(
    // An `Idempotency-Key` has no entry before its request, and its time ends.
    ['none open', 'open none', 'released none', 'answered none', 'answered open'],
  ),
);
const stateOf = (entry: Item | undefined): string =>
  entry ? (entry.requestId === undefined ? 'begun' : String(entry.state)) : 'none';

/** Programs that call as OpenAI's clients do: equal calls at once, whose connections break, repeated with and without a count. */
export class OpenAiCalls extends Part {
  private readonly groups: Group[] = [];
  private readonly around: Simulation;

  constructor(around: Simulation) {
    super(around.world);
    this.around = around;
    this.world.table.witnesses.push((key, before, after) => this.judgeEntry(key, before, after));
  }

  /** Makes the calls of a group, and lets time pass until every client has ended. */
  async call(action: Calls): Promise<void> {
    const { scheduler } = this.world;
    const prompt = promptOf(`o${this.groups.length}`, action.behaviour, action.callback);
    const isCalm = this.world.isCalm();
    const group = { prompt, action, given: [], unanswered: 0, told: 0, mayLeave: 0, repeated: 0 };
    const timed: Group = { ...group, startedAt: scheduler.now, wasCalm: isCalm };
    this.groups.push(timed);
    if (action.deletedMs !== undefined) scheduler.after(action.deletedMs, () => void this.remove(timed));
    const keyOf = (): string | undefined => this.around.callers[action.account]?.keyId;
    const key = keyOf();
    await Promise.all(action.clients.map((client) => this.client(timed, client)));
    // A call with another key is another call.
    timed.wasCalm &&= this.world.evidence.disturbedAt < timed.startedAt && keyOf() === key;
  }

  private async client(group: Group, { afterMs, lostMs }: Calls['clients'][number]): Promise<void> {
    const { scheduler } = this.world;
    await scheduler.sleep(afterMs);
    for (let retry = 0; retry <= RETRIES; retry++) {
      if (retry > 0) await scheduler.sleep(BACK_OFF_MS[retry - 1] ?? 0);
      const lost = lostMs[retry];
      const answer = await Promise.race([
        this.send(group, retry),
        ...(lost === undefined ? [] : [scheduler.sleep(lost).then(() => BROKEN)]),
      ]);
      if (answer.status === 200) {
        group.given.push(String(answer.headers?.Location).split('/').at(-1) ?? '');
        return;
      }
      const isLate = answer.status === 0 && (lost ?? 0) < START_MS;
      if (isLate || (!group.action.counts && (answer.status === 0 || answer.status >= 500))) group.mayLeave++;
      if (!isRepeated(answer)) {
        group.told++;
        this.judgeRefusal(group, answer);
        return;
      }
      group.repeated++;
    }
    group.unanswered++;
  }

  private send({ prompt, action }: Group, retry: number): Promise<Answer> {
    const { account, counts, isKeyed } = action;
    return callApi(this.world, {
      route: 'create-openai-image',
      apiKey: this.around.callers[account]?.apiKey ?? '',
      headers: counts ? { 'X-Stainless-Retry-Count': String(retry) } : {},
      idempotencyKey: isKeyed ? prompt : undefined,
      body: { model: 'xQI3Pro', prompt, user: USERS[LAST_USER], response_format: 'url' },
    });
  }

  /** The caller deletes the newest request of a group. */
  private async remove({ prompt, action }: Group): Promise<void> {
    const life = this.livesOf(prompt).at(-1);
    if (!life || life.removedAt !== undefined) return;
    this.around.standing.beginDeletion(life.accountId, [life]);
    const { requestId } = life;
    const call = { route: 'delete-generation', parameters: { requestId } };
    await this.around.standing.whileDeleting(() => this.around.call(action.account, call));
  }

  /** Nobody is told that a request is gone that nobody deleted. */
  private judgeRefusal({ prompt, action }: Group, answer: Answer): void {
    const isGone = answer.status === 404 && action.deletedMs === undefined;
    if (isGone && this.livesOf(prompt).every(({ removedAt }) => removedAt === undefined))
      this.report(`[openai] ${prompt} was answered ${codeOf(answer)}, and nothing was deleted`);
  }

  private judgeEntry(key: string, before: Item | undefined, after: Item | undefined): void {
    const entry = after ?? before;
    if (!String(entry?.PK).startsWith('IDEMPOTENCY#') || entry?.waiter === undefined) return;
    const way = `${stateOf(before)} ${stateOf(after)}`;
    if (!WAYS.has(way)) this.report(`[openai] ${key} went from ${way.replace(' ', ' to ')}`);
    if (way === 'answered answered' && (before?.at !== after?.at || before?.waiter === after?.waiter))
      this.report(`[openai] ${key} was answered again for no other call, or for longer`);
    if (way === 'answered open') this.report(`[openai] ${key} was answered, and waits again`);
    if (after?.state === 'answered' && !this.world.table.get({ ...requestKey(String(after.requestId)) }))
      this.world.log(() => `  ${key} is answered as deleted`);
  }

  private livesOf(prompt: string): Life[] {
    return this.world.witness.all().filter((life) => life.prompt === prompt);
  }

  /** As many debits as calls that made something, and to each client images of its own. */
  problems(): string[] {
    return problemsOf(this.groups, ({ prompt, action, wasCalm, mayLeave, ...group }) => {
      const debited = this.livesOf(prompt).filter(({ last }) => last.status !== 'failed');
      const due = action.isKeyed ? 1 : action.clients.length + mayLeave;
      if (action.isKeyed && this.livesOf(prompt).length > 1)
        return `[openai] ${prompt} is debited twice by one key`;
      if (!wasCalm) return false;
      if (debited.length > due) return `[openai] ${debited.length} debits for ${due} calls of ${prompt}`;
      const twice = group.given.length - new Set(group.given).size;
      if (!action.isKeyed && twice > group.repeated)
        return `[openai] ${twice} clients got images of ${prompt} that others got`;
      const left = debited.length - group.given.length - group.unanswered - group.told - mayLeave;
      return !action.isKeyed && left > 0 && `[openai] nobody got ${left} requests of ${prompt}`;
    });
  }
}
