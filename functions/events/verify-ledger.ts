import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import * as z from 'zod/mini';
import { listAccounts } from '../../core/accounts/accounts.ts';
import { verifyLedger } from '../../core/ledger/verify-ledger.ts';
import { countMetric, logger, METRIC } from '../../core/observability.ts';
import { endsEarly } from '../time-limit.ts';

/** A scheduled event has no `full`. */
const Scope = z.object({ full: z._default(z.boolean(), false) });

/**
 * Verifies every account's ledger on a schedule: what is new since the last time, or, where the rule says `full`, everything. Each problem is logged and counted. A run without problems is
 * counted too, so that an alarm notices when none completes. Problems do not fail the run: a retry would only
 * find them again. A run that is not done in time logs and ends, without being counted.
 */
export const handler = middy<unknown, void>(endsEarly(1_000, () => undefined))
  .use(injectLambdaContext(logger, { resetKeys: true }))
  .handler(async (event) => {
    // A run that fails is then in the metric, as none that succeeded.
    countMetric(METRIC.ledgerVerified, {}, 0);
    const { accounts, entries, problems } = await verifyLedger(await listAccounts(), Scope.parse(event));
    for (const problem of problems) {
      logger.error('a ledger does not add up', { ...problem });
      countMetric(METRIC.ledgerProblem, {});
    }
    if (problems.length === 0) countMetric(METRIC.ledgerVerified, {});
    logger.info('ledgers verified', { accounts, entries, problems: problems.length });
  });
