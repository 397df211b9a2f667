import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { createRequest } from '../../../../core/creation/create-request.ts';
import { loadCreationFacts } from '../../../../core/creation/judge-creation.ts';
import { deleteEndUser } from '../../../../core/deletion/delete-end-user.ts';
import { blockEndUser } from '../../../../core/end-users/end-users.ts';
import { accountKey, endUserKey, ledgerPartition, requestKey } from '../../../../core/table/keys.ts';
import { NOW, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  EMAIL,
  putEndUser,
  putRequest,
  REQUEST_ID,
} from '../../builders/entities.ts';
import { anImageSubmission } from '../../builders/submissions.ts';
import { memory } from '../../fakes/fresh-table.ts';
import '../../fakes/fresh-executions.ts';
import '../../fakes/fresh-secrets.ts';

jest.spyOn(Math, 'random').mockReturnValue(0);

const given = (): void => {
  memory.reset();
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  putEndUser(memory, anEndUser({ activeRequests: 0 }));
  putRequest(memory, anImageRequest({ status: 'failed', ttl: NOW.getTime() / 1000 + 100 }));
};
beforeEach(given);

const id = { accountId: ACCOUNT_ID, email: EMAIL };
const submission = anImageSubmission();
const facts = () => loadCreationFacts(ACCOUNT_ID, submission);
const create = async () => createRequest(anAccount(), submission, await facts());
const remove = () => deleteEndUser(id, new StoppedClock());

const account = () => memory.get(accountKey(ACCOUNT_ID));
const endUser = () => memory.get(endUserKey(ACCOUNT_ID, EMAIL));
/** Beside the entries the partition holds the marks of deleted requests. */
const debits = () =>
  memory.partition(ledgerPartition(ACCOUNT_ID)).filter(({ SK }) => String(SK).startsWith('ENTRY#'));
const outcomeOf = (settled: PromiseSettledResult<unknown> | undefined): string =>
  settled?.status === 'rejected' ? settled.reason.code : 'done';

/** The winner of a creation and a removal of the same end-user; checks the state that each outcome leaves. */
const winner = ([created, removed]: PromiseSettledResult<unknown>[]): string => {
  const outcomes = `${outcomeOf(created)}, ${outcomeOf(removed)}`;
  const oldRequest = memory.get(requestKey(REQUEST_ID)) !== undefined;
  const state = {
    oldRequest,
    debits: debits().length,
    endUser: endUser(),
    balance: account()?.balanceThousandths,
  };
  const newRequest = memory.get(requestKey(String(debits()[0]?.reference)));
  if (outcomes === 'conflict, done') {
    expect(state).toEqual({ oldRequest: false, debits: 0, balance: 100_000, endUser: undefined });
    return 'removal';
  }
  expect(newRequest).toMatchObject({ status: 'queued' });
  expect(state.endUser).not.toHaveProperty('deletingAt');
  const after = { debits: 1, balance: 94_000 };
  if (outcomes === 'done, conflict') {
    const endUserAfter = { activeRequests: 1, totalRequests: 3 };
    expect(state).toMatchObject({ ...after, oldRequest: true, endUser: endUserAfter });
    return 'creation';
  }
  expect(outcomes).toBe('done, done');
  const anotherOne = { activeRequests: 1, totalRequests: 1, createdAt: NOW.toISOString() };
  expect(state).toMatchObject({ ...after, oldRequest: false, endUser: anotherOne });
  return 'both, one after the other';
};

describe('a creation and a removal of its end-user', () => {
  test('in this order: the creation wins', async () => {
    const created = await Promise.allSettled([create()]);
    const removed = await Promise.allSettled([remove()]);

    expect(winner([...created, ...removed])).toBe('creation');
  });

  test('that is claimed just before the debit: the removal wins', async () => {
    let removed: Promise<unknown> = Promise.resolve();
    memory.beforeTransaction = async (attempt) => {
      if (attempt > 1) return;
      removed = remove();
      // The claim is its first call.
      while (!endUser()?.deletingAt) await Promise.resolve();
    };
    const created = await Promise.allSettled([create()]);

    expect(winner([...created, ...(await Promise.allSettled([removed]))])).toBe('removal');
  });

  test('one after the other: the new end-user is another', async () => {
    const removed = await Promise.allSettled([remove()]);
    const created = await Promise.allSettled([create()]);

    expect(winner([...created, ...removed])).toBe('both, one after the other');
  });

  test('in any order of table calls, one wins and nothing is left half done', async () => {
    const winners = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        given();
        memory.beforeCall = () => scheduler.schedule(Promise.resolve());

        winners.add(winner(await scheduler.waitFor(Promise.allSettled([create(), remove()]))));
      }),
      { numRuns: 100 },
    );
    expect([...winners]).toEqual(expect.arrayContaining(['creation', 'removal']));
  });
});

describe('a creation and a block of its end-user', () => {
  test('in any order of table calls, the creation is debited before or refused after', async () => {
    const outcomes = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        given();
        memory.beforeCall = () => scheduler.schedule(Promise.resolve());

        const [created, blocked] = await scheduler.waitFor(
          Promise.allSettled([create(), blockEndUser(id, NOW)]),
        );

        expect(outcomeOf(blocked)).toBe('done');
        expect(endUser()).toMatchObject({ blockedAt: NOW.toISOString() });
        const isAccepted = outcomeOf(created) === 'done';
        expect(outcomeOf(created)).toBe(isAccepted ? 'done' : 'forbidden');
        expect(debits()).toHaveLength(isAccepted ? 1 : 0);
        expect(endUser()).toMatchObject({ activeRequests: isAccepted ? 1 : 0 });
        outcomes.add(outcomeOf(created));
      }),
      { numRuns: 100 },
    );
    expect([...outcomes].sort()).toEqual(['done', 'forbidden']);
  });
});
