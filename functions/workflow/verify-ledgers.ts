import { LedgerBatch, verifyLedgerBatch } from '../../core/ledger/ledger-runs.ts';
import { workflowTask } from '../workflow-task.ts';

/** Verifies a batch of ledgers, as far as there is time. */
export const handler = workflowTask(LedgerBatch, (batch) => verifyLedgerBatch(batch));
