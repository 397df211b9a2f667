import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { DescribeExecutionCommand, ExecutionDoesNotExist } from '@aws-sdk/client-sfn';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  accountKey,
  deletedRequestKey,
  ledgerEntryKey,
  providerAttemptKey,
  providerWaitKey,
  requestKey,
  webhookAttemptKey,
} from '../../../core/table/keys.ts';
import { systemClock } from '../../../core/time.ts';
import { atSeconds } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  aLedgerEntry,
  anAccount,
  anAttempt,
  anImageRequest,
  aStoredOutput,
  putAccount,
  putRequest,
  REQUEST_ID,
} from '../builders/entities.ts';
import { bucket } from '../fakes/fresh-bucket.ts';
import { executions } from '../fakes/fresh-executions.ts';
import { memory } from '../fakes/fresh-table.ts';
import { AGAIN, serveHistories } from './execution-histories.ts';
import { describeLocalRun } from './local-run.ts';

const { ops, json } = describeLocalRun();
jest.spyOn(systemClock, 'now').mockReturnValue(atSeconds(60));

const at = (second: number): string => atSeconds(second).toISOString();
const keyOf = (index: number): string => aStoredOutput(index).objectKey ?? '';
beforeEach(() => {
  serveHistories(executions);
  bucket.client.on(ListObjectsV2Command).resolves({
    Contents: [0, 7].map((index) => ({ Key: keyOf(index), Size: 77, LastModified: atSeconds(6) })),
  });
  putAccount(memory, anAccount({ ledgerEntries: 2 }));
  putRequest(
    memory,
    anImageRequest({
      status: 'succeeded',
      images: 3,
      webhookUrl: 'https://example.com/hook',
      outputs: [aStoredOutput(0), aStoredOutput(1), { index: 2 }],
      finishedAt: at(10),
      expiresAt: at(100),
      costThousandths: 8_000,
      refundThousandths: 4_000,
      debitEntryNumber: 1,
      refundEntryNumber: 2,
    }),
  );
  const about = { reference: REQUEST_ID };
  const debit = { type: 'debit', reason: 'generation', amountThousandths: 12_000 } as const;
  const refund = { reason: 'refund', amountThousandths: 4_000, createdAt: at(10) } as const;
  [debit, refund].forEach((entry, index) => {
    memory.put(ledgerEntryKey(ACCOUNT_ID, index + 1), aLedgerEntry(index + 1, { ...about, ...entry }));
  });
  memory.put(
    providerAttemptKey(REQUEST_ID, 0, 0),
    anAttempt({
      startedAt: at(2),
      finishedAt: at(4),
      taskId: 'task-1',
      outcome: { kind: 'done', outputs: [{ url: 'https://upstream.example.com/1' }] },
    }),
  );
  memory.put(providerWaitKey(REQUEST_ID), {
    requestId: REQUEST_ID,
    taskToken: 'secret-token',
    waitingSince: at(3),
  });
  memory.put(webhookAttemptKey(REQUEST_ID, AGAIN, 1), {
    ...{ requestId: REQUEST_ID, delivery: AGAIN, number: 1 },
    ...{ startedAt: at(21), milliseconds: 35, status: 503 },
  });
});

const show = ['requests', 'show', '--id', REQUEST_ID];

describe('requests show', () => {
  test('prints the record as the API shows it, the account and the ledger entries', async () => {
    expect(await json(...show)).toMatchObject({
      record: {
        requestId: REQUEST_ID,
        status: 'succeeded',
        cost: 8,
        finishedAt: at(10),
        images: [
          { id: `${REQUEST_ID}_0`, expiresAt: at(100), size: '1024x1024' },
          { id: `${REQUEST_ID}_1`, expiresAt: at(100), size: '1024x1024' },
          { id: `${REQUEST_ID}_2`, expiresAt: at(100), error: { code: 'storage_failed' } },
        ],
      },
      webhookUrl: 'https://example.com/hook',
      operatorNote: null,
      account: { accountId: ACCOUNT_ID, name: 'demo', xTokens: 100, blockedAt: null },
      ledgerEntries: [
        { type: 'debit', reason: 'generation', amount: 12, reference: REQUEST_ID },
        { type: 'credit', reason: 'refund', amount: 4, reference: REQUEST_ID },
      ],
    });
  });

  test('prints every execution with the states it entered', async () => {
    const { executions: printed } = (await json(...show)) as { executions: unknown };

    expect(printed).toEqual([
      {
        ...{ workflow: 'generation', name: REQUEST_ID, status: 'SUCCEEDED', error: null, cause: null },
        ...{ startedAt: at(1), stoppedAt: at(11) },
        states: [
          { state: 'Dispatch request', enteredAt: at(1) },
          { state: 'Store outputs', enteredAt: at(5) },
          { state: 'Settle request', enteredAt: at(9) },
        ],
      },
      {
        ...{ workflow: 'webhook-delivery', name: AGAIN, status: 'FAILED', error: 'Gone', cause: null },
        ...{ startedAt: at(20), stoppedAt: at(30) },
        states: [{ state: 'Deliver webhook', enteredAt: at(20) }],
      },
    ]);
  });

  test('prints provider attempts, the wait for the provider, and webhook attempts, without token and signed URLs', async () => {
    const value = await json(...show);

    expect(value).toMatchObject({
      providerAttempts: [
        { call: 0, attempt: 0, startedAt: at(2), taskId: 'task-1', outcome: { kind: 'done' } },
      ],
      wait: { waitingSince: at(3), queriedAt: null, calledBackAt: null },
      webhooks: [{ delivery: AGAIN, number: 1, startedAt: at(21), milliseconds: 35, status: 503 }],
    });
    expect(JSON.stringify(value)).not.toMatch(/secret-token|"url":""/);
  });

  test('prints the files in the record and the files in the bucket', async () => {
    const { objects } = (await json(...show)) as { objects: unknown };

    expect(objects).toEqual([
      {
        ...{ objectKey: keyOf(0), recorded: true, stored: true },
        ...{ sizeBytes: 77, contentType: 'image/png', storedAt: at(6) },
      },
      {
        ...{ objectKey: keyOf(1), recorded: true, stored: false },
        ...{ sizeBytes: 1234, contentType: 'image/png', storedAt: null },
      },
      {
        ...{ objectKey: keyOf(7), recorded: false, stored: true },
        ...{ sizeBytes: 77, contentType: null, storedAt: at(6) },
      },
    ]);
  });

  test('tells its parts as spans, in the order of their begin', async () => {
    const { spans } = (await json(...show)) as { spans: { kind: string; from: string }[] };

    expect(spans.map(({ kind, from }) => [(Date.parse(from) - Date.parse(at(0))) / 1000, kind])).toEqual([
      [0, 'queued'],
      [2, 'provider-call'],
      [3, 'provider-wait'],
      [5, 'storing'],
      [5, 'storing'],
      [5, 'storing'],
      [9, 'settling'],
      [10, 'available'],
      [21, 'webhook-attempt'],
    ]);
  });

  test('knows deadlines and webhook pauses where the stack names them', async () => {
    putRequest(memory, anImageRequest({ status: 'processing' }));

    expect(await json(...show)).toMatchObject({
      spans: expect.arrayContaining([
        { kind: 'deadline', label: 'until its deadline', from: at(2), until: at(602) },
      ]),
    });
  });

  test('prints timeline, details, ledger entries, executions and files without --json', async () => {
    const { status, stdout } = await ops(...show);

    expect(status).toBe(0);
    expect(stdout).toMatch(/^request +img_/);
    expect(stdout).toMatch(/\n2026-11-20 +AFTER +TAKES +WHAT\n09:00:00 +0.0s +2.0s +queued +█/);
    expect(stdout).toMatch(/\nTIME +WHAT +DETAIL\n2026-\S+ +queued +xQI3Pro, 3 of 1K, debit 12\n/);
    expect(stdout).toMatch(/\nTIME +ENTRY +REASON .+\n2026-\S+ +led_1 +generation +-12 /);
    expect(stdout).toMatch(/\nWORKFLOW +EXECUTION .+\ngeneration +img_\S+ .+ ran to its end +- +-\n/);
    expect(stdout).toMatch(/\nwebhook-delivery +img_\S+-again .+ broke off +Gone +-\n/);
    expect(stdout).toMatch(/\nFILE +BYTES +IN THE RECORD +IN THE BUCKET\noutputs\S+ +77 +yes +yes\n/);
  });

  test('prints a request that has only been accepted', async () => {
    const partitions = [`REQUEST#${REQUEST_ID}`, `WEBHOOK_ATTEMPTS#${REQUEST_ID}`];
    for (const { PK, SK } of partitions.flatMap((partition) => memory.partition(partition))) {
      memory.remove({ PK: String(PK), SK: String(SK) });
    }
    putRequest(memory, anImageRequest());
    memory.remove(ledgerEntryKey(ACCOUNT_ID, 2));
    memory.patch(accountKey(ACCOUNT_ID), { ledgerEntries: 1 });
    bucket.client.on(ListObjectsV2Command).resolves({});
    executions.client
      .on(DescribeExecutionCommand)
      .rejects(new ExecutionDoesNotExist({ message: 'none', $metadata: {} }));

    expect(await json(...show)).toMatchObject({
      record: { status: 'queued', pollUrl: `https://api.example.com/v1/generations/${REQUEST_ID}` },
      ...{ executions: [], providerAttempts: [], wait: null, webhooks: [], objects: [] },
      spans: [{ kind: 'queued' }],
    });
  });

  test('prints what was asked, without the signatures of URLs', async () => {
    const references = ['https://media.example.com/a.png?X-Amz-Signature=secret#part'];
    putRequest(memory, anImageRequest({ prompt: 'a red fox', images: 2, references }));

    expect(await json(...show)).toMatchObject({
      record: { prompt: 'a red fox' },
      input: { size: '1K', aspectRatio: 'auto', n: 2, references: ['https://media.example.com/a.png'] },
    });
    const { stdout } = await ops(...show);
    expect(stdout).toMatch(/\nprompt +a red fox\n/);
    expect(stdout).not.toContain('secret');
  });

  test('says why a request failed and what the provider said, and nowhere that it succeeded', async () => {
    const error = { code: 'provider_error', message: 'It broke.' } as const;
    const ended = { status: 'failed', error, finishedAt: at(10), operatorNote: 'by hand' } as const;
    putRequest(memory, anImageRequest(ended));
    const upstream = { code: 'InvalidParameter', message: 'too wide' };
    const outcome = { kind: 'failed', failure: error, upstream } as const;
    memory.put(
      providerAttemptKey(REQUEST_ID, 0, 0),
      anAttempt({ startedAt: at(2), finishedAt: at(4), outcome }),
    );

    const { spans, operatorNote } = (await json(...show)) as { spans: object[]; operatorNote: string };
    expect(operatorNote).toBe('by hand');
    expect(spans).toContainEqual(
      expect.objectContaining({
        ...{ kind: 'settling', until: at(10), outcome: 'failed' },
        detail: 'provider_error: It broke. (by hand)',
      }),
    );
    const { stdout } = await ops(...show);
    expect(stdout).toContain('the provider said InvalidParameter: too wide');
    expect(stdout).not.toMatch(/succeeded/i);
  });

  test('is refused when the request does not exist', async () => {
    memory.remove(requestKey(REQUEST_ID));

    expect(await ops(...show, '--json')).toEqual({
      status: 1,
      stdout: '',
      stderr: `There is no request ${REQUEST_ID}. List requests with: requests list\n`,
    });
  });

  test('says when a request was deleted, whatever its account', async () => {
    memory.remove(requestKey(REQUEST_ID));
    putAccount(memory, anAccount({ accountId: 'acc_2' }));
    const deletion = { accountId: 'acc_2', requestId: REQUEST_ID, deletedAt: at(50) };
    memory.put(deletedRequestKey('acc_2', REQUEST_ID), deletion);

    expect(await ops(...show, '--json')).toEqual({
      status: 1,
      stdout: '',
      stderr: `Request ${REQUEST_ID} of account acc_2 was deleted at ${at(50)}.\n`,
    });
  });

  test('says that a request is past its retention, even before TTL removes it', async () => {
    memory.patch(requestKey(REQUEST_ID), { ttl: atSeconds(60).getTime() / 1000 });

    expect((await ops(...show)).stderr).toBe(
      `There is no request ${REQUEST_ID} any more: it is past its retention.\n`,
    );
  });
});
