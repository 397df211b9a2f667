import type { Progress } from '../progress.ts';
import { type Check, type CheckResult, describeFailure, runCheck } from './check.ts';
import { ACCOUNT_CHECKS, LAST_ACCOUNT_CHECKS } from './checks/account.ts';
import { LEDGER_CHECKS, MONEY_CHECKS, PREPARATION_CHECKS } from './checks/customer.ts';
import { FILE_CHECKS } from './checks/files.ts';
import { REFUSAL_CHECKS } from './checks/refusals.ts';
import { DELETION_CHECKS, REQUEST_CHECKS } from './checks/requests.ts';
import type { Smoke } from './smoke.ts';

/** Every check, in order: later ones need what earlier ones made. */
export const CHECKS: readonly Check[] = [
  ...ACCOUNT_CHECKS,
  ...PREPARATION_CHECKS,
  ...REFUSAL_CHECKS,
  ...REQUEST_CHECKS,
  ...FILE_CHECKS,
  ...MONEY_CHECKS,
  ...DELETION_CHECKS,
  ...LEDGER_CHECKS,
  ...LAST_ACCOUNT_CHECKS,
];

/**
 * Runs one check after another, then removes the resources made, also after failures and when the run is
 * stopped. Never rejects.
 */
export const runSmoke = async (
  smoke: Smoke,
  progress: Progress,
  checks: readonly Check[] = CHECKS,
): Promise<CheckResult[]> => {
  const results: CheckResult[] = [];
  for (const check of checks) {
    progress.update(check.name);
    const result = await runCheck(check, {
      ...smoke,
      say: (text) => progress.update(`${check.name}: ${text}`),
    });
    results.push(result);
    const line = `${check.name}: ${result.detail}`;
    if (result.result === 'failed') progress.fail(line);
    else progress.succeed(line);
  }
  progress.update('removing what was made');
  const removal = await runCheck(REMOVAL, { ...smoke, signal: NEVER });
  results.push(removal);
  return results;
};

/** The resources made are removed even if the run is stopped. */
const NEVER = new AbortController().signal;

const REMOVAL: Check = {
  name: 'everything removed',
  async run({ operator, aws, made }) {
    const { accountId, alarm, image, video } = made;
    const requestIds = [image, video].flatMap((request) => (request ? [request.requestId] : []));
    const failures: string[] = [];
    const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
      await work().catch((error: unknown) => failures.push(`${what}: ${describeFailure(error)}`));
    };
    // CloudWatch would do so anyway within minutes.
    if (alarm && aws)
      await attempt(`Alarm ${alarm.name} is left in ALARM`, () => aws.setAlarm(alarm.name, 'OK'));
    if (accountId !== undefined) {
      await attempt(`Account ${accountId} is left`, () => operator.removeAccount(accountId, requestIds));
    }
    if (failures.length > 0) throw new Error(failures.join(' '));
    return accountId === undefined ? 'there was nothing to remove' : `${accountId} is gone`;
  },
};
