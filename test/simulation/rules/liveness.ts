import { findRouteLimit } from '../../../core/admission/route-limits.ts';
import { isOpenCall, type Life } from '../evidence/witness.ts';
import { Part } from '../world/part.ts';
import type { World } from '../world/world.ts';
import { endingProblems, progressProblems, repeatProblems } from './liveness-rules.ts';

/** How often open requests are checked. */
const CHECK_MS = 30_000;
/** How long after an end late answers of its provider's calls may still arrive. */
const AFTER_END_MS = 60_000;

/** Asks the liveness rules about each request: while it is open, when it ends, and a while later. */
export class Liveness extends Part {
  private isArmed = false;

  constructor(world: World) {
    super(world);
    world.providers.onCall = ({ requestId }) => this.judgeCall(requestId);
  }

  /** Looks at the open requests until there are none. */
  begin(): void {
    if (this.isArmed) return;
    this.isArmed = true;
    this.world.scheduler.after(CHECK_MS, () => {
      this.isArmed = false;
      const open = this.world.witness.open();
      for (const life of open) this.reportAll(this.progressOf(life));
      if (open.length > 0) this.begin();
    });
  }

  private progressOf(life: Life): string[] {
    const { evidence, lateness, scheduler, stepFunctions } = this.world;
    const known = stepFunctions.executionOf(life.requestId);
    const execution = known && {
      isRunning: known.status === 'RUNNING',
      state: known.state,
      since: known.stoppedAt ?? known.enteredAt,
      begunAt: known.begunAt,
    };
    const attempts = this.world.items('ATTEMPT#').filter(({ requestId }) => requestId === life.requestId);
    const recordedAt =
      attempts.length === 0 || attempts.some(isOpenCall)
        ? undefined
        : Math.max(...attempts.map(({ finishedAt }) => Date.parse(String(finishedAt))));
    const isQueued = this.world.items('QUEUED#').some(({ requestId }) => requestId === life.requestId);
    const deadlineSeconds = deadlineSecondsOf(life);
    const { now } = scheduler;
    const excusedMs = (from: number): number =>
      lateness.excusedMs(from, now, 'providers', 'throttled functions');
    return progressProblems({
      ...{ life, evidence, deadlineSeconds, execution, isQueued, recordedAt, now, excusedMs },
    });
  }

  /** A request has ended. */
  end(life: Life): void {
    this.judgeEnding(life);
    this.world.scheduler.after(AFTER_END_MS, () => this.judgeEnding(life));
  }

  private judgeEnding(life: Life): void {
    this.reportAll(
      endingProblems({
        life,
        evidence: this.world.evidence,
        plannedCalls: this.world.witness.plannedCallsOf(life),
        deadlineSeconds: deadlineSecondsOf(life),
        queueSeconds: Number(process.env.QUEUE_DEADLINE_SECONDS),
        permits:
          findRouteLimit(String((life.last.assignment as { route?: string } | undefined)?.route))?.permits ??
          Number.POSITIVE_INFINITY,
        endedAt: life.endedAt,
        excusedMs: (from, to) => this.world.lateness.excusedMs(from, to, 'providers', 'throttled functions'),
      }),
    );
  }

  /** A call that arrives at a provider has been claimed in the table, by nobody else. */
  private judgeCall(requestId: string): void {
    const { evidence, witness } = this.world;
    const calls = evidence.callsOf(requestId);
    if (calls.length > evidence.claims.of(requestId))
      this.report(`[late call] a provider was called for ${requestId || 'nobody'} without a claim`);
    const life = witness.lives.get(requestId);
    if (life) this.reportAll(repeatProblems(calls, witness.plannedCallsOf(life)));
  }

  private reportAll(problems: readonly string[]): void {
    for (const problem of problems) this.report(problem);
  }
}

const deadlineSecondsOf = ({ accepted }: Life): number =>
  Number(accepted.kind === 'video' ? process.env.VIDEO_DEADLINE_SECONDS : process.env.IMAGE_DEADLINE_SECONDS);
