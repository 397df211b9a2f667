import type { Outlook, StorySpan } from '../../ops/story-span.ts';
import type { BalanceHistoryEntry } from '../../packages/client/src/types.ts';
import type { AnyRecord } from '../state/record-rules.ts';

/** The operator's view of a request, as far as the console shows it. */
export interface RequestReport {
  /** The record, without signed URLs. */
  record: AnyRecord;
  /** How it goes on; absent once it has ended. */
  outlook?: Outlook;
  account: { accountId: string; name: string };
  webhookUrl: string | null;
  ledgerEntries: BalanceHistoryEntry[];
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
