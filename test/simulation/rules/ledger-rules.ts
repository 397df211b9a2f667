import type { Item } from '../../unit/fakes/expressions.ts';
import { isTerminal, type Life, objectKeysOf } from '../evidence/witness.ts';
import type { World } from '../world/world.ts';
import { problemsOf } from './problems.ts';

interface Entry {
  number: number;
  type: 'debit' | 'credit';
  reason: string;
  amountThousandths: number;
  balanceAfterThousandths: number;
  reference: string;
}

const sum = (entries: readonly Entry[]): number =>
  entries.reduce((total, { amountThousandths }) => total + amountThousandths, 0);

/**
 * The rules of `ledger verify` once more, of the simulation's own: a mistake in the service's verification shall not
 * hide one in its ledger. Compares the raw items with every request that was ever accepted, and returns the problems
 * of each account's ledger.
 */
export const ledgerProblems = (world: World): string[] =>
  world.accounts().flatMap((account) => {
    const isOwn = ({ accountId }: { accountId?: unknown }): boolean => accountId === account.accountId;
    const entries = world
      .items('ENTRY#')
      .filter(isOwn)
      .toSorted((a, b) => Number(a.number) - Number(b.number)) as unknown as Entry[];
    const strays = problemsOf(
      entries,
      ({ number, reason, reference }) =>
        (reason === 'generation' || reason === 'refund') &&
        !world.witness.lives.has(reference) &&
        `entry ${number} is of ${reference}, which was never accepted`,
    );
    return [
      ...chainProblems(account, entries),
      ...world.witness
        .all()
        .filter(isOwn)
        .flatMap((life) => requestProblems(life, entries)),
      ...strays,
    ].map((problem) => `${account.accountId}: ${problem}`);
  });

const chainProblems = (account: Item, entries: readonly Entry[]): string[] => {
  const problems: string[] = [];
  let balance = 0;
  for (const [index, entry] of entries.entries()) {
    if (entry.number !== index + 1) problems.push(`entry ${entry.number} stands where ${index + 1} should`);
    balance += entry.type === 'credit' ? entry.amountThousandths : -entry.amountThousandths;
    const told = entry.balanceAfterThousandths;
    if (balance !== told) problems.push(`entry ${entry.number} breaks the chain: ${told}, not ${balance}`);
    balance = told;
    if (balance < 0) problems.push(`entry ${entry.number} leaves ${balance}`);
  }
  if (account.balanceThousandths !== balance)
    problems.push(`the balance is ${account.balanceThousandths} and the newest entry says ${balance}`);
  if (account.ledgerEntries !== entries.length)
    problems.push(`${account.ledgerEntries} entries are counted and ${entries.length} are there`);
  return problems;
};

const requestProblems = ({ requestId, last }: Life, all: readonly Entry[]): string[] => {
  const about = all.filter(({ reference }) => reference === requestId);
  const debits = about.filter(({ reason }) => reason === 'generation');
  const refunds = about.filter(({ reason }) => reason === 'refund');
  const problems: string[] = [];
  const debit = sum(debits);
  const refund = sum(refunds);
  if (debits.length !== 1) problems.push(`${debits.length} debits of ${requestId}`);
  if (debit !== last.debitThousandths) problems.push(`${requestId} was debited ${debit}`);
  if (refunds.length > 1) problems.push(`${refunds.length} refunds of ${requestId}`);
  if (refund > debit) problems.push(`${requestId} was refunded ${refund} of ${debit}`);
  if (last.status === 'failed' && refund !== debit)
    problems.push(`${requestId} failed and was refunded ${refund} of ${debit}`);
  if (last.status === 'succeeded') {
    if (last.costThousandths !== debit - refund) {
      problems.push(`${requestId} cost ${last.costThousandths} and was charged ${debit - refund}`);
    }
    const delivered = objectKeysOf(last).length;
    const due =
      last.kind === 'video' ? Number(last.debitThousandths) : Number(last.unitPriceThousandths) * delivered;
    if (last.costThousandths !== due) {
      problems.push(`${requestId} delivered ${delivered} and cost ${last.costThousandths}, not ${due}`);
    }
  }
  if (!isTerminal(last) && refund > 0) problems.push(`${requestId} was refunded while ${last.status}`);
  return problems;
};
