import { PROVIDER_ATTEMPT_PREFIX } from '../../../core/table/keys.ts';
import { isTerminal, type Life, outcomeOf } from '../evidence/witness.ts';
import { deadlineMs } from '../world/clocks.ts';
import { Part } from '../world/part.ts';
import type { World } from '../world/world.ts';

/** How long after its deadline the loop may take to end a request, whatever became of its execution. */
const ENDED_MS = 120_000;
/** How long outputs may take to be stored, however near the deadline they were made. */
const STORING_MS = 900_000;
/** How long a run of the loop may take to reach a request, and its transaction to be written. */
const SLACK_MS = 20_000;

/**
 * Checks deadlines, also while things go wrong. Each request ends within two minutes of its deadline, or of its time in the queue. One with outputs
 * has 15 minutes to store them. A disturbance moves that by what the table of lateness says, and by no more.
 */
export class Deadlines extends Part {
  /** The requests for which a provider told of outputs, its own or those of another task with the same id. */
  private readonly produced = new Set<string>();

  constructor(world: World) {
    super(world);
    world.table.witnesses.push((_key, _before, after) => {
      const isDone = String(after?.SK).startsWith(PROVIDER_ATTEMPT_PREFIX) && outcomeOf(after) === 'done';
      if (isDone) this.produced.add(String(after?.requestId));
    });
    world.stepFunctions.watchers.push((execution) => {
      if (execution.machine === 'generation') this.arm(execution.name);
    });
  }

  /** A request is accepted: it is checked when it must have ended. */
  await(life: Life): void {
    this.arm(life.requestId);
  }

  private arm(requestId: string): void {
    const life = this.world.witness.lives.get(requestId);
    if (!life || isTerminal(life.last)) return;
    const { scheduler } = this.world;
    const inMs = this.dueAt(life) - scheduler.now;
    scheduler.after(inMs + 1, () => this.judge(life));
  }

  /** When a request must have ended, in epoch milliseconds, by what has gone wrong so far. */
  private dueAt(life: Life): number {
    const { evidence, lateness, scheduler, witness } = this.world;
    const calls = evidence.callsOf(life.requestId);
    const [first] = calls;
    const kind = life.accepted.kind === 'video' ? 'video' : 'image';
    const queueMs = Number(process.env.QUEUE_DEADLINE_SECONDS) * 1000;
    const deadline = first
      ? first.sentAt + deadlineMs(kind)
      : Math.min(life.acceptedAt, Date.parse(String(life.accepted.createdAt))) + queueMs;
    const hasOutputs =
      this.produced.has(life.requestId) || calls.some(({ made }) => made?.works && made.doneAt <= deadline);
    const bound = deadline + ENDED_MS + SLACK_MS + (hasOutputs ? STORING_MS : 0);
    const until = Math.max(bound, scheduler.now);
    // Nobody writes about a request whose record is gone.
    if (!witness.lives.has(life.requestId)) return until;
    // Outputs are stored by an execution, which waits for a function that is refused.
    return (
      bound + lateness.excusedMs(deadline, until, ...(hasOutputs ? (['throttled functions'] as const) : []))
    );
  }

  private judge(life: Life): void {
    if (life.removedAt !== undefined || isTerminal(life.last)) return;
    const { scheduler } = this.world;
    const dueAt = this.dueAt(life);
    if (dueAt >= scheduler.now) this.arm(life.requestId);
    else
      this.report(
        `[past deadline] ${life.requestId} is ${life.last.status} ${scheduler.now - dueAt} ms after it must have ended`,
      );
  }
}
