import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { withStepFunctions } from '../contract/support/aws.ts';
import {
  type AnyRecord,
  accepted,
  type Caller,
  eventually,
  newCaller,
  read,
  settled,
  sharedService,
  unique,
} from '../contract/support/client.ts';
import { balance, entriesOf, expectUnbrokenChain } from '../contract/support/ledger.ts';
import { type LocalService, ops, runOps } from '../contract/support/local-service.ts';
import { failed, processing, remove, succeeded } from '../contract/support/resources.ts';

interface Verified {
  accounts: number;
  entries: number;
  problems: { accountId: string; kind: string; detail: string }[];
}
interface Shown {
  record: AnyRecord;
  operatorNote: string | null;
  account: { accountId: string; xTokens: number };
  ledgerEntries: { reason: string; amount: number }[];
  executions: { workflow: string; name: string; status: string; states: { state: string }[] }[];
  providerAttempts: { call: number; outcome?: { kind: string } }[];
  webhooks: unknown[];
  objects: { objectKey: string; recorded: boolean; stored: boolean; sizeBytes: number }[];
}

let service: LocalService;
beforeAll(async () => {
  service = await sharedService();
});

const show = (requestId: string) => ops<Shown>(service, 'requests', 'show', '--id', requestId);
const verify = (caller: Caller) => ops<Verified>(service, 'ledger', 'verify', '--account', caller.accountId);

describe('requests show', () => {
  let caller: Caller;
  let shown: Shown;
  let record: AnyRecord;
  beforeAll(async () => {
    caller = await newCaller(service);
    const { requestId } = await accepted(caller, { model: 'xSD4.5', n: 2, prompt: unique('[broken=1]') });
    record = await settled(caller, requestId);
    shown = await show(requestId);
  });

  test('prints record, ledger entries, executions, provider calls and files', async () => {
    const { images, ...rest } = record;

    expect(shown.record).toEqual({ ...rest, images: images?.map(({ url: _, ...image }) => image) });
    expect(shown.account).toMatchObject({ accountId: caller.accountId, xTokens: await balance(caller) });
    expect(shown.ledgerEntries.map(({ reason, amount }) => [reason, amount])).toEqual([
      ['generation', 8],
      ['refund', 4],
    ]);
    expect(shown.executions).toMatchObject([{ workflow: 'generation', name: record.requestId }]);
    expect(shown.executions[0]?.states.map(({ state }) => state)).toEqual(
      expect.arrayContaining(['Dispatch request', 'Store outputs', 'Settle request']),
    );
    expect(shown.providerAttempts.length).toBeGreaterThan(0);
    for (const { outcome } of shown.providerAttempts) expect(outcome?.kind).toBe('done');
    expect(shown.webhooks).toEqual([]);
    expect(shown.objects).toEqual([
      expect.objectContaining({
        objectKey: expect.stringContaining(record.requestId),
        ...{ recorded: true, stored: true, sizeBytes: expect.any(Number) },
      }),
    ]);
  });
});

describe('requests fail', () => {
  test('fails an unfinished request, refunds it and stops its execution', async () => {
    const caller = await newCaller(service, 100);
    const { requestId } = await processing(caller, 40);

    const answer = await ops<AnyRecord>(service, 'requests', 'fail', '--id', requestId, '--note', 'stuck');

    const error = { code: 'internal_error', message: 'The operator ended this request.' };
    expect(answer).toMatchObject({ requestId, status: 'failed', error, operatorNote: 'stuck' });
    const seen = await read(caller, requestId);
    expect(seen).toMatchObject({ status: 'failed', error });
    expect(seen).not.toHaveProperty('operatorNote');
    expect(await balance(caller)).toBe(100);
    expect((await entriesOf(caller, requestId)).map(([reason]) => reason)).toEqual(['refund', 'generation']);
    const status = await withStepFunctions(service, async (client) => {
      const executionArn = `${service.stateMachines.generation.replace(':stateMachine:', ':execution:')}:${requestId}`;
      return (await client.send(new DescribeExecutionCommand({ executionArn }))).status;
    });
    expect(status).toBe('ABORTED');
    expect((await show(requestId)).operatorNote).toBe('stuck');
    expect((await verify(caller)).problems).toEqual([]);
  });

  test('of several requests at once refunds each once, even if the workflow ends them at the same moment', async () => {
    const caller = await newCaller(service, 100);
    const requests = await Promise.all(
      Array.from({ length: 6 }, () => accepted(caller, { prompt: unique('[delay=1][fail=content_policy]') })),
    );

    await Promise.all(
      requests.map(({ requestId }) => runOps(service, 'requests', 'fail', '--id', requestId)),
    );

    for (const { requestId } of requests) expect((await settled(caller, requestId)).status).toBe('failed');
    expect(await balance(caller)).toBe(100);
    await expectUnbrokenChain(caller);
    expect((await verify(caller)).problems).toEqual([]);
  });
});

describe('ledger verify', () => {
  test('finds no problem in any account while all are in use', async () => {
    const caller = await newCaller(service);
    let busy = true;
    const work = (async () => {
      while (busy) {
        const made = await Promise.all([
          succeeded(caller),
          failed(caller),
          accepted(caller, { prompt: unique() }),
        ]);
        await remove(caller, `/v1/generations/${made[1].requestId}`);
      }
    })();

    const results: Verified[] = [];
    // Each run reads on from the last one.
    const grown = () => results.slice(1).some(({ entries }) => entries > 0);
    try {
      await eventually(
        async () => results.push(await ops<Verified>(service, 'ledger', 'verify')),
        (count) => count >= 4 && grown(),
      );
    } finally {
      busy = false;
    }
    await work;

    for (const { problems, accounts } of results) {
      expect(problems).toEqual([]);
      expect(accounts).toBeGreaterThan(1);
    }
    expect(grown()).toBe(true);
  });
});
