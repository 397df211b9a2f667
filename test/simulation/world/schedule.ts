import {
  FAILED_STATUSES,
  LOST_STATUSES,
  SETTLED_ERRORS,
} from '../../../core/executions/execution-statuses.ts';
import {
  DELETED_REQUEST_PREFIX,
  dueListOf,
  END_USER_REMOVAL_PREFIX,
  ROUTE_LIMIT_SORT,
  WEBHOOK_ATTEMPT_PREFIX,
} from '../../../core/table/keys.ts';
import type { Item } from '../../unit/fakes/expressions.ts';
import { isTerminal } from '../evidence/witness.ts';
import type { Admission } from '../rules/admission-rules.ts';
import { type Execution, executionArn, machineArn } from './aws/execution.ts';
import { type DeployedFunction, TOO_MANY } from './aws/lambda.ts';
import { CLOCKS_APART_MS, deadlineMs } from './clocks.ts';
import { outside } from './engine/invocation.ts';
import type { Appointment } from './engine/scheduler.ts';
import { Part } from './part.ts';
import type { World } from './world.ts';

const INTERVAL_MS = 60_000;
/** When Lambda gives an event to a function: at once, and after 1 and 2 min when that failed. */
const RETRY_MS = [0, 60_000, 120_000];
/** When it tries again for which there was no room: for hours. */
const ROOM_MS = 15_000;
/** It goes on for some rounds after the last thing was done. */
const ROUNDS_AT_REST = 2;
/** How many minutes it stays away longer for each run in which nothing happened to a request and nothing was due. */
const SLOWER_EACH_RUN = 0.5;

/** How long files that are overdue keep it running every minute: later they are a problem anyhow. */
const NEEDED_MS = 3_600_000;

/** Work that is due so much later does not keep it running every minute. */
const SOON_MS = 180_000;

/** What the reconciler finishes besides requests, by how its sort keys begin. */
const LISTED_WORK = [WEBHOOK_ATTEMPT_PREFIX, DELETED_REQUEST_PREFIX, END_USER_REMOVAL_PREFIX];

/** Which ends of which executions are told, as the stack's rules say. */
const LOST: Record<string, readonly string[]> = {
  generation: LOST_STATUSES,
  'webhook-delivery': FAILED_STATUSES,
};

/** Whether all that is left of a request are its files. */
const isExpiring = ({ GSI1PK }: Item): boolean => dueListOf(GSI1PK as string | undefined) === 'EXPIRE';

/**
 * Runs the reconciler on its schedule while any work is open, and on the event of a lost execution. While nothing
 * happens and nothing needs it, runs become rarer: a day without work shall not cost 1,440 runs. There are none while
 * nothing is open, or only files that expire later.
 */
export class Schedule extends Part {
  private readonly admission: Admission;
  private readonly reconcile: DeployedFunction;
  private readonly reconcileLost: DeployedFunction;
  private armed: Appointment | undefined;
  private quietRuns = 0;
  private minutes = 0;
  private roundsAtRest = 0;
  private awayUntil = 0;

  constructor(world: World, admission: Admission) {
    super(world);
    this.admission = admission;
    this.reconcile = world.functionNamed('reconcile');
    this.reconcileLost = world.functionNamed('reconcile-lost');
    world.stepFunctions.onNews = (execution) => this.reportLost(execution);
    world.table.witnesses.push((_key, _before, after) => {
      const sort = String(after?.SK);
      if (
        sort !== 'REQUEST' &&
        sort !== ROUTE_LIMIT_SORT &&
        !LISTED_WORK.some((prefix) => sort.startsWith(prefix))
      )
        return;
      this.quietRuns = 0;
      this.roundsAtRest = 0;
      this.arm();
    });
  }

  /** One run, as on its schedule. */
  async runNow(): Promise<void> {
    await this.invoke(this.reconcile, { everySeconds: INTERVAL_MS / 1000 });
  }

  /** Starts no run for so long, as an EventBridge that is late. */
  stayAway(milliseconds: number): void {
    const { evidence, scheduler } = this.world;
    this.awayUntil = scheduler.now + milliseconds;
    this.world.disturb();
    evidence.disturbedAt = Math.max(evidence.disturbedAt, this.awayUntil);
    evidence.meetOutage(this.awayUntil);
  }

  private arm(): void {
    const { scheduler } = this.world;
    const minutes = this.minutesToRest();
    if (this.armed && this.armed.at <= scheduler.now + minutes * INTERVAL_MS) return;
    if (this.armed) scheduler.cancel(this.armed);
    this.armed = scheduler.after(minutes * INTERVAL_MS, () => {
      this.armed = undefined;
      this.minutes += minutes;
      const isDue = this.isNeeded() || this.minutes > SLOWER_EACH_RUN * this.quietRuns;
      if (isDue && !this.isOpen()) this.roundsAtRest++;
      if (this.roundsAtRest < ROUNDS_AT_REST) this.arm();
      if (!isDue) return;
      this.minutes = 0;
      this.quietRuns++;
      if (scheduler.now >= this.awayUntil && this.isAnythingDue()) void this.runNow();
    });
  }

  /** In how many minutes there may be something to do: when the next item is due, if nothing is left but what is due later. */
  private minutesToRest(): number {
    const { world } = this;
    if (this.hasWork()) return 1;
    const due = this.listed()
      .filter((item) => this.isForLater(item))
      .map(({ GSI1SK }) => Date.parse(String(GSI1SK)));
    if (due.length === 0) return 1;
    return Math.max(1, Math.ceil((Math.min(...due) - world.scheduler.now) / INTERVAL_MS));
  }

  /** Whether a request has no execution, has an execution that waits for news already there, or has expired files. */
  private isNeeded(): boolean {
    const { evidence, scheduler, stepFunctions } = this.world;
    if (this.admission.isOpen() || this.hasOverdueWork()) return true;
    return this.world.items('REQUEST').some((record) => {
      if (isExpiring(record)) {
        const overdueMs = scheduler.now - Date.parse(String(record.GSI1SK));
        return overdueMs >= 0 && overdueMs < NEEDED_MS;
      }
      if (isTerminal(record)) return false;
      const requestId = String(record.requestId);
      const execution = stepFunctions.executionOf(requestId);
      if (execution?.status !== 'RUNNING') return true;
      const calls = evidence.callsOf(requestId);
      const kind = record.kind === 'video' ? 'video' : 'image';
      if (calls[0] && scheduler.now >= calls[0].sentAt + deadlineMs(kind)) return true;
      const isDone = calls.some(({ made }) => made && made.doneAt <= scheduler.now);
      return isDone && execution.state === 'Wait for provider';
    });
  }

  /** Whether a list holds what is due by any clock. A run that finds nothing only reads its lists, and is skipped. */
  private isAnythingDue(): boolean {
    const { scheduler, table } = this.world;
    if (this.admission.isOpen()) return true;
    const by = new Date(scheduler.now + CLOCKS_APART_MS).toISOString();
    return [...table.items.values()].some(
      ({ GSI1PK, GSI1SK }) => dueListOf(String(GSI1PK)) !== undefined && String(GSI1SK) <= by,
    );
  }

  private isOpen(): boolean {
    return this.hasWork() || this.listed().some((item) => this.isForLater(item));
  }

  /** Whether anything is open but what is due later: files that expire, and later passes of removals. */
  private hasWork(): boolean {
    return (
      this.admission.isOpen() ||
      this.world.items('REQUEST').some((record) => !isTerminal(record)) ||
      this.listed().some((item) => !this.isForLater(item))
    );
  }

  /** Whether other work than that on requests is due. */
  private hasOverdueWork(): boolean {
    const by = new Date(this.world.scheduler.now).toISOString();
    return this.listed().some(({ SK, GSI1SK }) => SK !== 'REQUEST' && String(GSI1SK) <= by);
  }

  /** Everything that a due list holds. */
  private listed(): Item[] {
    const { world } = this;
    return ['REQUEST', ...LISTED_WORK]
      .flatMap((prefix) => world.items(prefix))
      .filter(({ GSI1PK }) => GSI1PK !== undefined);
  }

  private isForLater(item: Item): boolean {
    const dueMs = Date.parse(String(item.GSI1SK)) - this.world.scheduler.now;
    return isExpiring(item) || (item.SK !== 'REQUEST' && dueMs > SOON_MS);
  }

  private reportLost(execution: Execution): void {
    const { machine, name, status, input, error } = execution;
    if (!LOST[machine]?.includes(status) || SETTLED_ERRORS.includes(error ?? '')) return;
    void this.invokeUntilDone(name, {
      source: 'aws.states',
      'detail-type': 'Step Functions Execution Status Change',
      resources: [executionArn(machine, name)],
      detail: {
        executionArn: executionArn(machine, name),
        stateMachineArn: machineArn(machine),
        ...{ name, status, input, stopDate: this.world.scheduler.now },
      },
    });
  }

  /**
   * An event is kept for a function that fails or does not start, and given to it twice more. That takes minutes, so a report
   * whose first delivery failed counts as none.
   */
  private async invokeUntilDone(executionName: string, event: unknown): Promise<void> {
    for (const wait of RETRY_MS) {
      if (wait > 0) await this.world.scheduler.sleep(wait);
      let error = await this.invoke(this.reconcileLost, event);
      while (error?.name === TOO_MANY) {
        await this.world.scheduler.sleep(ROOM_MS);
        error = await this.invoke(this.reconcileLost, event);
      }
      if (!error) return;
      this.world.evidence.unreported.add(executionName);
    }
  }

  /** Why it did not come to its end; undefined when it did. */
  private invoke(target: DeployedFunction, event: unknown): Promise<Error | undefined> {
    return outside(() => this.world.lambda.invoke(target, event)).then(
      () => undefined,
      (error: Error) => error,
    );
  }
}
