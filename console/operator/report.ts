/** A stretch of a request's story. `until` is null while it goes on. */
export interface StorySpan {
  kind: string;
  label: string;
  from: string;
  until: string | null;
  attempt?: number;
  outcome?: string;
  detail?: string;
}

/** What the operator sees of a request, as far as the console shows it. */
export interface RequestReport {
  ledgerEntries: {
    id: string;
    type: string;
    reason: string;
    amount: number;
    balanceAfter: number;
    createdAt: string;
  }[];
  executions: {
    workflow: string;
    name: string;
    status: string;
    startedAt: string;
    stoppedAt: string | null;
    states: { state: string; enteredAt: string }[];
  }[];
  providerAttempts: {
    call: number;
    attempt: number;
    startedAt: string;
    finishedAt?: string;
    taskId?: string;
    outcome?: { kind: string; reason?: string; failure?: { code: string; message: string } };
  }[];
  webhooks: {
    delivery: string;
    number: number;
    startedAt: string;
    status?: number | null;
    error?: string | null;
    milliseconds: number;
  }[];
  spans: StorySpan[];
}
