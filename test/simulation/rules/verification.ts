import { METRIC } from '../../../core/observability.ts';
import { Part } from '../world/part.ts';

const MACHINE = 'verify-ledgers';
/** How often a verification that is under way is checked. */
const CHECK_MS = 1_000;

/**
 * Verifies all ledgers as the stack's schedule does, at any time: the verification finds nothing wrong while money
 * moves.
 */
export class Verification extends Part {
  /** Begins a verification, beside whatever goes on. */
  begin(full: boolean): void {
    this.world.stepFunctions.begin(MACHINE, { full });
  }

  /** Verifies everything, once nothing is under way any more: it succeeds, and says so. */
  async complete(): Promise<string[]> {
    const { metrics, scheduler, stepFunctions } = this.world;
    const before = metrics.get(METRIC.ledgerVerified) ?? 0;
    const execution = stepFunctions.begin(MACHINE, { full: true });
    while (execution.status === 'RUNNING') await scheduler.sleep(CHECK_MS);
    const counted = (metrics.get(METRIC.ledgerVerified) ?? 0) - before;
    return execution.status === 'SUCCEEDED' && counted === 1
      ? []
      : [`[verification] it ended as ${execution.status}, and ${counted} were counted as without problems`];
  }

  /** What the verifications so far found wrong. */
  problems(): string[] {
    const found = this.world.metrics.get(METRIC.ledgerProblem) ?? 0;
    return found === 0 ? [] : [`[verification] ${found} problems were found in the ledgers`];
  }
}
