import { getAccount } from '../../../core/accounts/accounts.ts';
import { balanceChangeWrites } from '../../../core/ledger/ledger.ts';
import { transact } from '../../../core/table/transactions.ts';
import { machineArn } from '../world/aws/execution.ts';
import type { Deployment } from '../world/aws/step-functions.ts';
import { inEach, type Service } from './service.ts';

const HOUR_MS = 3_600_000;
const CLIENT = { maxTries: 1, answerMs: undefined };

/** How many problems the daily verification of the ledgers found. */
interface Verified {
  before: number;
  /** An hour later, after a second refund of the request. */
  after: number;
}

/** A failed request is refunded twice, by hand. Before that, it was deleted or not. */
export const measureSecondRefunds = (deployment: Deployment) => {
  const found: number[] = [];
  const cases = [{ isDeleted: false }, { isDeleted: true }];
  return inEach(
    listening(deployment, found),
    cases,
    () => ({}),
    (service, { isDeleted }) => refundAgain(service, isDeleted, found),
  );
};

const refundAgain = async (
  service: Service,
  isDeleted: boolean,
  found: readonly number[],
): Promise<Verified> => {
  const { world, accountId, createImage, call, settled, until, record } = service;
  const verify = async (): Promise<number> => {
    const times = found.length;
    const input = { stateMachineArn: machineArn('verify-ledgers'), name: `day ${times}` };
    await settled(world.stepFunctions.send('StartExecutionCommand', input, CLIENT));
    await until(() => found.length > times);
    return Number(found.at(-1));
  };
  const requestId = await createImage('refused');
  await until(() => record(requestId)?.status === 'failed');
  const amountThousandths = Number(record(requestId)?.refundThousandths);
  if (isDeleted) await call({ route: 'delete-generation', parameters: { requestId } });
  await world.scheduler.advance(HOUR_MS);
  const before = await verify();
  const refund = { amountThousandths, reason: 'refund', reference: requestId } as const;
  const account = await settled(getAccount(accountId));
  await settled(transact(() => balanceChangeWrites(account, refund, new Date()).writes));
  await world.scheduler.advance(HOUR_MS);
  return { before, after: await verify() };
};

/** The deployment, with a record of the problems that each verification reports at its end. */
const listening = (deployment: Deployment, found: number[]): Deployment => {
  const { functions } = deployment;
  const list = functions.get('list-ledgers');
  if (!list) throw new Error('There is no function list-ledgers.');
  const handler: typeof list.handler = async (event, context) => {
    const page = await list.handler(event, context);
    const { next, found: sum } = page as { next: string; found: { problems: number } };
    if (next === 'stop') found.push(sum.problems);
    return page;
  };
  return { ...deployment, functions: new Map(functions).set('list-ledgers', { ...list, handler }) };
};
