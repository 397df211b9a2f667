import { ExecutionDoesNotExist, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { endRequest } from '../../../core/ending/end-request.ts';
import { settled } from '../../../core/ending/settled.ts';
import { deletedRequestKey, endUserKey, ledgerPartition, requestKey } from '../../../core/table/keys.ts';
import { systemClock } from '../../../core/time.ts';
import { NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anEndUser,
  anImageRequest,
  aStoredOutput,
  EMAIL,
  putAccount,
  putRequest,
  REQUEST_ID,
} from '../builders/entities.ts';
import { tableError } from '../builders/table-errors.ts';
import { bucket } from '../fakes/fresh-bucket.ts';
import { executions } from '../fakes/fresh-executions.ts';
import { memory } from '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

const { ops, json } = describeLocalRun();
jest.spyOn(systemClock, 'now').mockReturnValue(NOW);
jest.spyOn(Math, 'random').mockReturnValue(0);

const given = (changes: Parameters<typeof anImageRequest>[0] = {}): void => {
  executions.client.on(StopExecutionCommand).resolves({});
  putAccount(memory);
  memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser());
  putRequest(memory, anImageRequest({ status: 'processing', images: 2, ...changes }));
};
beforeEach(() => given());

const fail = ['requests', 'fail', '--id', REQUEST_ID];
const stops = () =>
  executions.client.commandCalls(StopExecutionCommand).map(({ args }) => args[0].input.executionArn);
const entries = () => memory.partition(ledgerPartition(ACCOUNT_ID));
const FAILED = {
  status: 'failed',
  error: { code: 'internal_error', message: 'The operator ended this request.' },
};

describe('requests fail', () => {
  test.each(['queued', 'processing'] as const)(
    'fails a %s request, refunds it in full and prints it',
    async (status) => {
      given({ status });

      const value = await json(...fail, '--note', 'the customer asked');

      expect(value).toMatchObject({ requestId: REQUEST_ID, ...FAILED, operatorNote: 'the customer asked' });
      expect(memory.get(requestKey(REQUEST_ID))).toMatchObject({
        ...FAILED,
        operatorNote: 'the customer asked',
        refundThousandths: 8_000,
      });
      expect(entries()).toEqual([expect.objectContaining({ reason: 'refund', amountThousandths: 8_000 })]);
    },
  );

  test('is done when the answer of the table was lost', async () => {
    memory.afterTransaction = () => {
      throw tableError('TimeoutError');
    };

    expect(await json(...fail)).toMatchObject({ ...FAILED, operatorNote: null });
    expect(stops()).toHaveLength(1);
    expect(entries()).toHaveLength(1);
  });

  test('fails as the table does when it ended nothing', async () => {
    memory.beforeTransaction = () => {
      throw tableError('TimeoutError');
    };

    expect(await ops(...fail)).toMatchObject({ status: 1, stderr: expect.stringMatching(/TimeoutError/) });
    expect(stops()).toEqual([]);
  });

  test('stops the execution after the request has failed', async () => {
    let statusAtStop: unknown;
    executions.client.on(StopExecutionCommand).callsFake(async () => {
      statusAtStop = memory.get(requestKey(REQUEST_ID))?.status;
      return {};
    });

    await json(...fail);

    expect(stops()).toEqual([`arn:aws:states:us-east-1:111122223333:execution:generation:${REQUEST_ID}`]);
    expect(statusAtStop).toBe('failed');
  });

  test('works without an execution', async () => {
    const gone = new ExecutionDoesNotExist({ message: 'gone', $metadata: {} });
    executions.client.on(StopExecutionCommand).rejects(gone);

    expect(await json(...fail)).toMatchObject(FAILED);
  });

  test('removes files that are already stored', async () => {
    const key = aStoredOutput(0).objectKey ?? '';
    bucket.put(key);

    await json(...fail);

    expect([...bucket.objects.keys()]).toEqual([]);
  });

  test.each(['succeeded', 'failed'] as const)(
    'is refused for a request that has %s, and changes nothing',
    async (status) => {
      given({ status });

      expect(await ops(...fail, '--json')).toEqual({
        status: 1,
        stdout: '',
        stderr: `Request ${REQUEST_ID} has already ${status}. See what happened with: requests show --id <id>\n`,
      });
      expect(memory.transactions).toEqual([]);
      expect(stops()).toEqual([]);
    },
  );

  test('is refused when the workflow ends the request first; the request is settled once', async () => {
    given({ outputs: [aStoredOutput(0)] });
    memory.beforeTransaction = async (attempt) => {
      if (attempt === 1) await endRequest(REQUEST_ID, settled);
    };

    expect(await ops(...fail, '--json')).toEqual({
      status: 1,
      stdout: '',
      stderr: `Request ${REQUEST_ID} succeeded before it could be failed. See what happened with: requests show --id <id>\n`,
    });
    expect(entries()).toEqual([expect.objectContaining({ reason: 'refund', amountThousandths: 4_000 })]);
    expect(stops()).toEqual([]);
  });

  test('says when a deleted request was deleted', async () => {
    memory.remove(requestKey(REQUEST_ID));
    const deletion = {
      accountId: ACCOUNT_ID,
      requestId: REQUEST_ID,
      deletedAt: '2026-11-19T10:00:00.000Z',
    };
    memory.put(deletedRequestKey(ACCOUNT_ID, REQUEST_ID), deletion);

    expect((await ops(...fail)).stderr).toBe(
      `Request ${REQUEST_ID} of account ${ACCOUNT_ID} was deleted at 2026-11-19T10:00:00.000Z.\n`,
    );
  });

  test('prints field by field without --json', async () => {
    const { stdout } = await ops(...fail, '--note', 'stuck');

    expect(stdout).toMatch(
      /^requestId +img_\S+\nmodel +xQI3Pro\nstatus +failed\nrefunded +8\nreason +The operator .*\nnote +stuck\n$/,
    );
  });
});
