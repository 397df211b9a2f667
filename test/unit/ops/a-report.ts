import type { ExecutionHistory } from '../../../ops/execution-history.ts';
import type { RequestReport } from '../../../ops/request-report.ts';
import { atSeconds } from '../builders/clocks.ts';
import { anAccount, anImageRequest, REQUEST_ID } from '../builders/entities.ts';

/** Everything stored about a request that has just been accepted. */
export const aReport = (changes: Partial<RequestReport> = {}): RequestReport => ({
  request: anImageRequest(),
  account: anAccount(),
  entries: [],
  executions: [],
  attempts: [],
  wait: undefined,
  webhooks: [],
  files: [],
  timings: { deadlineSeconds: { image: 600, video: 3600 }, webhookRetrySeconds: [5, 300] },
  ...changes,
});

/** A running execution of `generation` that entered these states, each at a second. */
export const anExecution = (
  states: Record<string, number>,
  changes: Partial<ExecutionHistory> = {},
): ExecutionHistory => ({
  workflow: 'generation',
  name: REQUEST_ID,
  status: 'RUNNING',
  startedAt: atSeconds(0).toISOString(),
  stoppedAt: null,
  error: null,
  cause: null,
  states: Object.entries(states).map(([state, second]) => ({
    state,
    enteredAt: atSeconds(second).toISOString(),
  })),
  ...changes,
});
