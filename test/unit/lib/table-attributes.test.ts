import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { consumeApiKey } from '../../../core/accounts/consume-api-key.ts';
import { blockEndUser, unblockEndUser } from '../../../core/end-users/end-users.ts';
import { putEndUserBudget } from '../../../core/ledger/end-user-budgets.ts';
import { claimAttempts } from '../../../core/provider-calls/claim-attempts.ts';
import {
  keepAttemptAlive,
  recordCancellation,
  recordOutcome,
  recordRefusal,
  suspectAttempt,
} from '../../../core/provider-calls/provider-attempts.ts';
import {
  beginCallbackQuery,
  claimCallbackQuery,
  claimQuery,
  holdOffQueries,
  keepTaskToken,
  recordQuery,
} from '../../../core/provider-calls/provider-waits.ts';
import { closeDeletion, removeRequest } from '../../../core/requests/deleted-requests.ts';
import {
  checkQueuedAt,
  keepStoring,
  markExpired,
  markProcessing,
  postponeExpiry,
  recordOutputs,
} from '../../../core/requests/requests.ts';
import { table } from '../../../core/table/table.ts';
import { attributesNamed, WRITTEN_ATTRIBUTES } from '../../../lib/table-attributes.ts';
import { attributesOf } from '../../../packages/local-aws/src/aws/permissions/attributes.ts';
import { atSeconds, NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAttempt,
  anEndUser,
  anImageRequest,
  EMAIL,
  putEndUser,
  REQUEST_ID,
} from '../builders/entities.ts';
import { aDone } from '../builders/providers.ts';
import { ENTERED } from '../builders/waiting-request.ts';
import { MemoryTable } from '../fakes/memory-table.ts';

const memory = new MemoryTable(table);
beforeEach(() => {
  memory.reset();
  putEndUser(memory, anEndUser());
});

const at = (seconds: number): string => atSeconds(seconds).toISOString();
const attempt = anAttempt({ requestId: REQUEST_ID });
const ORIGIN = { provider: 'modelark', upstreamModel: 'up', baseUrl: 'https://up.example' } as const;
const claim = (beginsProcessing: boolean) =>
  claimAttempts(REQUEST_ID, [{ call: 0, attempt: 0 }], {
    ...{ origin: ORIGIN, now: NOW, claimId: 'claim', assignment: 1, checkAt: at(60), beginsProcessing },
  });
const endUser = { accountId: ACCOUNT_ID, email: EMAIL };
const deletion = { accountId: ACCOUNT_ID, requestId: REQUEST_ID, deletedAt: at(0) };

/** The attributes that every write so far named. */
const written = (): string[] => {
  const updates = memory.client.commandCalls(UpdateCommand).map(({ args }) => args[0].input);
  const parts = memory.client
    .commandCalls(TransactWriteCommand)
    .flatMap(({ args }) => args[0].input.TransactItems ?? [])
    .flatMap((item) => Object.values(item));
  return [...updates, ...parts].flatMap((write) => {
    const { Key, Item } = write as { Key?: object; Item?: object };
    return attributesOf(write as Record<string, unknown>, [Key ?? Item]);
  });
};

describe('the attributes that roles may name are those that their writes name', () => {
  test.each<[keyof typeof WRITTEN_ATTRIBUTES, (() => Promise<unknown>)[]]>([
    ['keyUse', [() => consumeApiKey({ accountId: ACCOUNT_ID, keyId: 'key_1', digest: 'd' }, NOW, () => 0)]],
    [
      'budget',
      [
        () => putEndUserBudget(endUser, { perDayThousandths: 1 }, NOW),
        () => putEndUserBudget(endUser, { perDayThousandths: 2 }, NOW),
        () => putEndUserBudget(endUser, undefined, NOW),
      ],
    ],
    ['block', [() => blockEndUser(endUser, NOW), () => unblockEndUser(endUser)]],
    [
      'progress',
      [
        ...[() => claim(true), () => claim(false)],
        ...[() => keepAttemptAlive(attempt, NOW), () => suspectAttempt(attempt, NOW)],
        ...[
          () => recordRefusal(attempt, at(0)),
          () => recordRefusal({ ...attempt, refusedAt: at(0) }, undefined),
        ],
        () => recordCancellation(attempt, { kind: 'cancelled' }, NOW),
        () => recordOutcome(attempt, aDone('a'), NOW, { ifSuspected: true }),
        () => recordOutcome(attempt, { kind: 'accepted', taskId: 'task' }, NOW),
        ...[
          () => keepTaskToken(REQUEST_ID, 'token', ENTERED, NOW),
          () => claimCallbackQuery(REQUEST_ID, 2, NOW),
        ],
        ...[() => beginCallbackQuery(REQUEST_ID, at(0), NOW), () => recordQuery(REQUEST_ID, NOW, false)],
        ...[() => holdOffQueries(REQUEST_ID, at(60), NOW), () => claimQuery(REQUEST_ID, 10, NOW)],
        ...[() => markProcessing(anImageRequest(), at(60)), () => checkQueuedAt(REQUEST_ID, at(60))],
        ...[
          () => recordOutputs(REQUEST_ID, []),
          () => keepStoring(REQUEST_ID, { storedSoFar: [], storingSince: at(0) }),
        ],
      ],
    ],
    [
      'expiry',
      [
        () => markExpired(REQUEST_ID, NOW),
        () => postponeExpiry({ requestId: REQUEST_ID, GSI1SK: at(0) }, at(60), 1),
      ],
    ],
    [
      'deletion',
      [
        () => removeRequest(anImageRequest({ webhookUrl: 'https://hooks.example.com' }), NOW),
        () => closeDeletion(deletion),
      ],
    ],
  ])('%s', async (kind, writes) => {
    for (const write of writes) {
      // Most find no item: what they name is all that counts.
      await write().catch((error: Error) => expect(error.name).not.toBe('TypeError'));
    }
    const allowed = attributesNamed(WRITTEN_ATTRIBUTES[kind]);

    expect(written().length).toBeGreaterThan(writes.length);
    expect(written().filter((name) => !allowed.includes(name))).toEqual([]);
  });

  test('and none that tells whose a request is or what it costs', () => {
    const facts = [
      'accountId',
      'endUserEmail',
      'debitThousandths',
      'refundThousandths',
      'webhookUrl',
      'kind',
      'model',
    ];

    const named = [...WRITTEN_ATTRIBUTES.progress, ...WRITTEN_ATTRIBUTES.expiry];

    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((name) => facts.includes(name))).toEqual([]);
  });
});
