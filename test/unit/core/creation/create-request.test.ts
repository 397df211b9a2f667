import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createRequest } from '../../../../core/creation/create-request.ts';
import type { CreationFacts } from '../../../../core/creation/judge-creation.ts';
import { PaymentRequiredError } from '../../../../core/errors.ts';
import { logger } from '../../../../core/observability.ts';
import { dueListing, endUserKey, requestKey } from '../../../../core/table/keys.ts';
import { references } from '../../builders/bodies.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount, anEndUser, EMAIL } from '../../builders/entities.ts';
import { anImageSubmission, theFacts } from '../../builders/submissions.ts';
import { trafficCounted } from '../../fakes/metrics.ts';
import { account, endUser, entries, executions, memory } from './a-creation.ts';

const logged = jest.spyOn(logger, 'error');
beforeEach(() => void logged.mockReset());

const create = async (
  body: Record<string, unknown> = {},
  facts: Partial<CreationFacts> = {},
  seen = anAccount(),
) => {
  const { request, replayed } = await createRequest(seen, anImageSubmission(body), theFacts(facts));
  expect(replayed).toBe(false);
  return request;
};

describe('an accepted creation', () => {
  test('is counted, by its model; a refused one is not', async () => {
    const counted = trafficCounted();

    await expect(create({}, {}, anAccount({ balanceThousandths: 0 }))).rejects.toThrow(PaymentRequiredError);
    expect(counted()).toEqual([]);

    await create();
    expect(counted()).toEqual([['RequestsCreated', { model: 'xQI3Pro' }]]);
  });

  test('writes account, ledger entry, end-user and request in one transaction, in this order', async () => {
    const request = await create({ n: 2, webhookUrl: 'https://hooks.example.com/' });

    expect(request).toStrictEqual({
      kind: 'image',
      requestId: expect.stringMatching(/^img_[0-9A-Z]{26}$/),
      accountId: ACCOUNT_ID,
      endUserEmail: EMAIL,
      endUserId: request.requestId,
      model: 'xQI3Pro',
      prompt: 'a lighthouse',
      size: '2K',
      aspectRatio: 'auto',
      images: 2,
      sequential: false,
      references: [],
      webhookUrl: 'https://hooks.example.com/',
      unitPriceThousandths: 6_000,
      debitThousandths: 12_000,
      createdAt: NOW.toISOString(),
      retentionDays: 90,
      status: 'queued',
      assignment: { route: 'modelstudio/qwen-image', number: 1 },
    });
    expect(memory.transactions).toHaveLength(1);
    expect(memory.transactions[0]?.TransactItems).toHaveLength(4);
    expect(account()).toMatchObject({ balanceThousandths: 88_000, ledgerEntries: 4 });
    expect(entries()).toMatchObject([
      {
        PK: `LEDGER#${ACCOUNT_ID}`,
        SK: 'ENTRY#000000000004',
        type: 'debit',
        reason: 'generation',
        amountThousandths: 12_000,
        balanceAfterThousandths: 88_000,
        reference: request.requestId,
        retentionDays: 90,
      },
    ]);
    expect(endUser()).toMatchObject({
      endUserId: request.requestId,
      ...{ totalRequests: 1, activeRequests: 1, spentThousandths: 12_000 },
    });
    expect(memory.get(requestKey(request.requestId))).toEqual({
      PK: `REQUEST#${request.requestId}`,
      SK: 'REQUEST',
      ...dueListing('START', request.requestId, atSeconds(45).toISOString()),
      GSI2PK: ACCOUNT_ID,
      GSI3PK: `${ACCOUNT_ID}#${EMAIL}`,
      ...request,
      endUserId: request.requestId,
      debitEntryNumber: 4,
    });
  });

  test('starts its execution, named by its id and with nothing personal as input', async () => {
    const { requestId } = await create();

    expect(executions.started).toEqual([
      {
        ...{ machine: 'generation', name: requestId, status: 'RUNNING' },
        input: { requestId, model: 'xQI3Pro', accountId: ACCOUNT_ID },
      },
    ]);
  });

  test('creates its end-user on first use and counts on later ones', async () => {
    await create();
    expect(endUser()).toMatchObject({
      accountId: ACCOUNT_ID,
      email: EMAIL,
      createdAt: NOW.toISOString(),
      totalRequests: 1,
      activeRequests: 1,
      spentThousandths: 6_000,
    });

    memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser());
    await create({}, {}, { ...anAccount(), balanceThousandths: 94_000, ledgerEntries: 4 });
    expect(endUser()).toMatchObject({
      createdAt: anEndUser().createdAt,
      lastActiveAt: NOW.toISOString(),
      totalRequests: 3,
      activeRequests: 2,
      spentThousandths: 14_000,
    });
  });

  test.each<[string, Record<string, unknown>, number]>([
    ['the smaller tier', { size: '1K' }, 4_000],
    ['the larger tier', { size: '2K' }, 6_000],
    ['the preset whatever the ratio', { size: '1K', aspectRatio: 'landscape' }, 4_000],
    ['explicit pixels at the edge of a tier', { size: '1500x1500' }, 4_000],
    ['explicit pixels past the edge of a tier', { size: '1500x1501' }, 6_000],
    ['every image', { size: '1K', n: 6 }, 24_000],
    ['no reference', { size: '1K', references: references(3) }, 4_000],
    ['all that a sequence may yield', { model: 'xSD4.5', sequential: 'auto' }, 60_000],
    [
      'all that a sequence is limited to',
      { model: 'xSD4.5', sequential: 'auto', sequentialOptions: { maxImages: 3 } },
      12_000,
    ],
    [
      'what a sequence may yield beside its references',
      { model: 'xSD4.5', sequential: 'auto', references: references(10) },
      20_000,
    ],
  ])('is debited for %s', async (_, body, debit) => {
    expect((await create(body)).debitThousandths).toBe(debit);
    expect(account()).toMatchObject({ balanceThousandths: 100_000 - debit });
  });

  test('is priced by the rate the operator set', async () => {
    const rate = { perImage: [{ maxPixels: null, xTokens: 0.125 }] };

    expect(await create({ n: 3 }, { settings: { model: 'xQI3Pro', rate } })).toMatchObject({
      unitPriceThousandths: 125,
      debitThousandths: 375,
    });
  });
});

describe('a creation whose execution cannot be started', () => {
  test('is accepted and debited anyway, and is due for a start', async () => {
    executions.refuseStarts(new Error('no state machine'));

    const request = await create();

    expect(request).toMatchObject({ status: 'queued', debitThousandths: 6_000 });
    expect(entries()).toMatchObject([{ type: 'debit', reference: request.requestId }]);
    expect(account()).toMatchObject({ balanceThousandths: 94_000, ledgerEntries: 4 });
    expect(memory.get(requestKey(request.requestId))).toMatchObject({
      status: 'queued',
      GSI1PK: expect.stringMatching(/^DUE#START#/),
    });
    expect(endUser()).toMatchObject({ totalRequests: 1, activeRequests: 1 });
    expect(logged.mock.calls).toEqual([
      [
        'an execution could not be started',
        { requestId: request.requestId, error: new Error('no state machine') },
      ],
    ]);
  });
});
