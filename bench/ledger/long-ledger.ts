import { creationTimeOf } from '../../core/ids.ts';
import {
  accountKey,
  ledgerCheckpointKey,
  ledgerEntryKey,
  ledgerPartition,
  requestPartition,
} from '../../core/table/keys.ts';
import { addSeconds } from '../../core/time.ts';

/** Entries of a page of 1 MB: some 260 bytes each. */
const ENTRIES_PER_PAGE = 4_000;
const SECOND_MS = 1_000;
const START_MS = Date.parse('2026-01-01T00:00:00Z');
const ACCOUNT_ID = 'acc_bench';
const DEBIT = 1_000;
const BALANCE = 5_000_000;

/** What a verification read from the table. */
export interface Reads {
  calls: number;
  entries: number;
  requests: number;
}

/** Crockford's base 32, of ULIDs. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const base32 = (value: number, length: number): string =>
  Array.from({ length }, (_, place) => ALPHABET[Math.floor(value / 32 ** (length - 1 - place)) % 32]).join(
    '',
  );

const instantOf = (number: number): string => new Date(START_MS + number * SECOND_MS).toISOString();
/** The entry before those of requests puts the balance in. Then a request has two, one after another: its debit and its refund. */
const OPENING = 1;
const requestOf = (number: number): number => Math.ceil((number - OPENING) / 2);
const requestIdOf = (request: number): string =>
  `img_${base32(START_MS + (2 * request - 1 + OPENING) * SECOND_MS, 10)}${base32(request, 16)}`;

const openingEntry = {
  ...ledgerEntryKey(ACCOUNT_ID, OPENING),
  ...{ id: 'led_1', accountId: ACCOUNT_ID, number: OPENING, type: 'credit', reason: 'topup' },
  ...{ amountThousandths: BALANCE, balanceAfterThousandths: BALANCE, reference: '' },
  createdAt: instantOf(OPENING),
};

const entryOf = (number: number) => {
  if (number === OPENING) return openingEntry;
  const isDebit = (number - OPENING) % 2 === 1;
  return {
    ...ledgerEntryKey(ACCOUNT_ID, number),
    ...{ id: `led_${number}`, accountId: ACCOUNT_ID, number, amountThousandths: DEBIT },
    type: isDebit ? 'debit' : 'credit',
    reason: isDebit ? 'generation' : 'refund',
    balanceAfterThousandths: isDebit ? BALANCE - DEBIT : BALANCE,
    reference: requestIdOf(requestOf(number)),
    createdAt: instantOf(number),
    ...(isDebit && { retentionDays: 90 }),
  };
};

const storedRequest = (requestId: string) => ({
  ...{ PK: requestPartition(requestId), SK: 'REQUEST', requestId, accountId: ACCOUNT_ID },
  ...{ status: 'failed', debitThousandths: DEBIT, refundThousandths: DEBIT },
  finishedAt: addSeconds(creationTimeOf(requestId), SECOND_MS / 1_000),
});

interface Input {
  Key?: { PK: string; SK: string };
  Item?: { entryNumber: number };
  IndexName?: string;
  Limit?: number;
  ScanIndexForward?: boolean;
  ExclusiveStartKey?: { SK: string };
  ExpressionAttributeValues?: Record<string, string>;
  RequestItems?: Record<string, { Keys: { PK: string }[] }>;
}

const numberIn = (sort = ''): number => Number(/\d+$/.exec(sort)?.[0] ?? 0);

/**
 * A stand-in for the table with one ledger, whose items are made up when they are read: so many entries of requests, of which
 * `verified` were verified, and none where that is 0.
 */
export const createLongLedger = (entriesOfRequests: number, verifiedOfRequests: number) => {
  const [entries, verified] = [OPENING + entriesOfRequests, OPENING + verifiedOfRequests];
  const reads: Reads = { calls: 0, entries: 0, requests: 0 };
  const mark = {
    entryNumber: verified,
    balanceThousandths: BALANCE,
    digest: 'd',
    entryAt: instantOf(verified),
  };
  let checkpoint: object | undefined =
    verifiedOfRequests > 0 ? { accountId: ACCOUNT_ID, ...mark, verifiedAt: instantOf(entries) } : undefined;
  const account = {
    ...{ accountId: ACCOUNT_ID, name: 'bench', createdAt: instantOf(0), webhookSecret: 'whsec_' },
    ...{ balanceThousandths: BALANCE, ledgerEntries: entries, balanceUpdatedAt: instantOf(entries) },
    limits: { requestsPerSecond: 50, burst: 100 },
  };

  const get = ({ PK, SK }: { PK: string; SK: string }): object | undefined => {
    if (PK === accountKey(ACCOUNT_ID).PK) return account;
    if (PK === ledgerCheckpointKey(ACCOUNT_ID).PK) return checkpoint;
    reads.entries += 1;
    return PK === ledgerPartition(ACCOUNT_ID) ? entryOf(numberIn(SK)) : undefined;
  };

  const queryEntries = ({ ExpressionAttributeValues: values = {}, ...input }: Input) => {
    const first = input.ExclusiveStartKey
      ? numberIn(input.ExclusiveStartKey.SK) + 1
      : numberIn(values[':first']);
    const last = Math.min(entries, numberIn(values[':last'] ?? values[':newest']));
    const limit = Math.min(input.Limit ?? ENTRIES_PER_PAGE, ENTRIES_PER_PAGE);
    const from = input.ScanIndexForward === false ? Math.max(first, last - limit + 1) : first;
    const to = Math.min(last, from + limit - 1);
    const Items = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => entryOf(from + index));
    reads.entries += Items.length;
    return { Items, ...(to < last && { LastEvaluatedKey: ledgerEntryKey(ACCOUNT_ID, to) }) };
  };

  /** The newest request whose key is at most this one; 0 where there is none. Keys are in the order of the requests. */
  const newestUpTo = (key: string): number => {
    let [low, high] = [0, requestOf(entries)];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (requestPartition(requestIdOf(middle)) <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  /** The list of an account's requests, as the key range of a query has it. */
  const queryRequests = ({ ExpressionAttributeValues: values = {} }: Input) => {
    const [oldest = '', newest = ''] = [values[':oldest'], values[':newest']];
    if (!oldest.startsWith(requestPartition('img_'))) return { Items: [] };
    const Items = [];
    for (let request = newestUpTo(newest); request > 0; request--) {
      const PK = requestPartition(requestIdOf(request));
      if (PK < oldest) break;
      Items.push({ PK });
    }
    return { Items };
  };

  const send = async (command: { input: Input; constructor: { name: string } }): Promise<object> => {
    const { input } = command;
    reads.calls += 1;
    switch (command.constructor.name) {
      case 'GetCommand':
        return { Item: input.Key && get(input.Key) };
      case 'QueryCommand':
        return input.IndexName === undefined ? queryEntries(input) : queryRequests(input);
      case 'BatchGetCommand': {
        const [[name, { Keys }] = ['', { Keys: [] }]] = Object.entries(input.RequestItems ?? {});
        reads.requests += Keys.length;
        const found = Keys.map(({ PK }) => storedRequest(PK.slice(requestPartition('').length)));
        return { Responses: { [name]: found }, UnprocessedKeys: {} };
      }
      case 'PutCommand':
        checkpoint = input.Item;
        return {};
      default:
        throw new Error(`The verification made another call: ${command.constructor.name}`);
    }
  };
  return { accountId: ACCOUNT_ID, reads, send, endsAt: instantOf(entries + 60) };
};
