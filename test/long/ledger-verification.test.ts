import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from '@jest/globals';
import { withStepFunctions, withTable } from '../contract/support/aws.ts';
import {
  accepted,
  becomes,
  type Caller,
  eventually,
  newCaller,
  settled,
} from '../contract/support/client.ts';
import { ops } from '../contract/support/local-service.ts';
import { loggedLines, refusedCalls } from '../contract/support/permissions.ts';
import { useOwnRun } from './own-run.ts';

const ACCOUNTS = 30;

const { service } = useOwnRun();
let callers: Caller[];
beforeAll(async () => {
  callers = await Promise.all(Array.from({ length: ACCOUNTS }, () => newCaller(service)));
  await Promise.all(
    callers.slice(0, 3).map(async (caller) => {
      const { requestId } = await accepted(caller, {});
      await settled(caller, requestId);
    }),
  );
}, 180_000);

const machine = () => service.stateMachines.verifyLedgers;
/** Starts a run, and waits for its end and its line in the log. */
const verify = () =>
  withStepFunctions(service, async (client) => {
    const { length: before } = await reports();
    const { executionArn } = await client.send(new StartExecutionCommand({ stateMachineArn: machine() }));
    const ended = await eventually(
      () => client.send(new DescribeExecutionCommand({ executionArn })),
      ({ status }) => status !== 'RUNNING',
    );
    const { events = [] } = await client.send(
      new GetExecutionHistoryCommand({ executionArn, maxResults: 1_000 }),
    );
    const logged = await eventually(reports, ({ length }) => length > before);
    return { status: ended.status, types: events.map(({ type }) => type), report: logged.at(-1) };
  });
const reports = async () =>
  (await loggedLines(service.dataDir, 'ledgers verified')).map(
    (line) =>
      JSON.parse(line.slice(line.indexOf('{'))) as { accounts: number; entries: number; problems: number },
  );

test('The rule starts a run', async () => {
  const executions = await eventually(
    () =>
      withStepFunctions(service, (client) =>
        client.send(new ListExecutionsCommand({ stateMachineArn: machine() })),
      ),
    (found) => (found.executions ?? []).filter(({ status }) => status === 'SUCCEEDED').length > 0,
  );

  expect(executions.executions?.map(({ status }) => status)).toEqual(['SUCCEEDED']);
  await becomes(async () => (await reports()).length, 1);
});

test('A run replays the ledgers of all accounts by a Distributed Map', async () => {
  const { status, types, report } = await verify();

  expect(status).toBe('SUCCEEDED');
  expect(types).toEqual(expect.arrayContaining(['MapRunStarted', 'MapRunSucceeded']));
  expect(types).not.toContain('MapIterationStarted');
  // With the account of the local run; a topup of each, and three requests.
  const all = { accounts: ACCOUNTS + 1, entries: ACCOUNTS + 1 + 3, problems: 0 };
  expect(report).toMatchObject(all);
  expect((await verify()).report).toMatchObject(all);
});

test('A run reports a ledger that does not add up, and so does the operators’ command', async () => {
  const [, caller] = callers as [Caller, Caller];
  await withTable(service, (table, TableName) =>
    table.send(
      new UpdateCommand({
        TableName,
        Key: { PK: `ACCOUNT#${caller.accountId}`, SK: 'ACCOUNT' },
        UpdateExpression: 'SET balanceThousandths = :other',
        ExpressionAttributeValues: { ':other': 1 },
      }),
    ),
  );

  expect(await verify()).toMatchObject({
    status: 'SUCCEEDED',
    report: { accounts: ACCOUNTS + 1, problems: 1 },
  });
  const problem = () => loggedLines(service.dataDir, 'a ledger does not add up');
  await becomes(problem, expect.arrayContaining([expect.stringContaining(caller.accountId)]));
  await expect(ops(service, 'ledger', 'verify')).rejects.toThrow('The ledger has 1 problem.');
});

test('No call was denied', async () => {
  expect(await refusedCalls(service.dataDir)).toEqual([]);
});
