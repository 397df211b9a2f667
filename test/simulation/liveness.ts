import { findGate } from '../../core/admission/gates.ts';
import type { Item } from '../unit/fakes/expressions.ts';
import { endingProblems, progressProblems, repeatProblems } from './liveness-rules.ts';
import type { Life, Witness } from './witness.ts';
import type { World } from './world.ts';

/** How often open requests are looked at. */
const LOOK_MS = 30_000;
/** How long after an end late answers of its provider's calls may still arrive. */
const AFTER_END_MS = 60_000;

/** Asks the liveness rules about each request: while it is open, when it ends, and a while later. */
export class Liveness {
  /** What broke a rule, once each. */
  readonly violations: string[] = [];
  private readonly world: World;
  private readonly witness: Witness;
  private readonly plannedCallsOf: (life: Life) => number;
  /** Told of each request that ends. */
  onEnd: ((life: Life) => void) | undefined;
  private isArmed = false;

  constructor(world: World, witness: Witness, plannedCallsOf: (life: Life) => number) {
    this.world = world;
    this.witness = witness;
    this.plannedCallsOf = plannedCallsOf;
    witness.onEnd = (life) => {
      this.judgeEnding(life);
      this.onEnd?.(life);
      world.scheduler.after(AFTER_END_MS, () => this.judgeEnding(life));
    };
    world.providers.onCall = ({ requestId }) => this.judgeCall(requestId);
  }

  /** A request was accepted. */
  begin(): void {
    this.arm();
  }

  private arm(): void {
    if (this.isArmed) return;
    this.isArmed = true;
    this.world.scheduler.after(LOOK_MS, () => {
      this.isArmed = false;
      const open = this.witness.open();
      for (const life of open) this.add(this.progressOf(life));
      if (open.length > 0) this.arm();
    });
  }

  private progressOf(life: Life): string[] {
    const { evidence, scheduler, stepFunctions } = this.world;
    const known = stepFunctions.executionOf(life.requestId);
    const execution = known && {
      isRunning: known.status === 'RUNNING',
      state: known.state,
      since: known.stoppedAt ?? known.enteredAt,
      begunAt: known.begunAt,
    };
    const deadlineSeconds = deadlineSecondsOf(life);
    const attempts = this.world.items('ATTEMPT#').filter(({ requestId }) => requestId === life.requestId);
    const isOpen = ({ outcome }: Item): boolean =>
      ((outcome as Item | undefined)?.kind ?? 'accepted') === 'accepted';
    const recordedAt =
      attempts.length === 0 || attempts.some(isOpen)
        ? undefined
        : Math.max(...attempts.map(({ finishedAt }) => Date.parse(String(finishedAt))));
    const isQueued = this.world.items('WAITER#').some(({ requestId }) => requestId === life.requestId);
    const now = scheduler.now;
    return progressProblems({ life, evidence, deadlineSeconds, execution, isQueued, recordedAt, now });
  }

  private judgeEnding(life: Life): void {
    this.add(
      endingProblems({
        life,
        evidence: this.world.evidence,
        plannedCalls: this.plannedCallsOf(life),
        deadlineSeconds: deadlineSecondsOf(life),
        queueSeconds: Number(process.env.QUEUE_DEADLINE_SECONDS),
        permits: findGate(String(life.last.gate))?.permits ?? Number.POSITIVE_INFINITY,
        endedAt: life.endedAt,
      }),
    );
  }

  /** A call that arrives at a provider has been claimed in the table, by nobody else. */
  private judgeCall(requestId: string): void {
    const { evidence } = this.world;
    const claims = evidence.claims.get(requestId) ?? 0;
    if (evidence.callsOf(requestId).length > claims) {
      this.add([`[late call] a provider was called for ${requestId || 'nobody'} without a claim`]);
    }
    const life = this.witness.lives.get(requestId);
    if (life) this.add(repeatProblems(evidence.callsOf(requestId), this.plannedCallsOf(life)));
  }

  private add(problems: readonly string[]): void {
    this.violations.push(...problems.filter((problem) => !this.violations.includes(problem)));
  }
}

const deadlineSecondsOf = ({ accepted }: Life): number =>
  Number(accepted.kind === 'video' ? process.env.VIDEO_DEADLINE_SECONDS : process.env.IMAGE_DEADLINE_SECONDS);
