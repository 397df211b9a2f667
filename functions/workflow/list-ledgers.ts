import * as z from 'zod/mini';
import { LedgerRun, listLedgers } from '../../core/ledger/ledger-runs.ts';
import { workflowTask } from '../workflow-task.ts';

/** Lists a page of ledgers to verify, in batches; at the end of the list, reports what a run found. */
export const handler = workflowTask(z.object({ run: LedgerRun }), ({ run }) => listLedgers(run));
