import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../../unit/fakes/expressions.ts';
import type { Call } from '../engine/calls.ts';
import { makeCall } from '../engine/effects.ts';
import { invocations } from '../engine/invocation.ts';
import type { World } from '../world.ts';
import type { ClientLimits } from './client-limits.ts';
import type { Write } from './table.ts';
import { tornBatch, tornQuery } from './torn-reads.ts';

type Input = Record<string, unknown>;

/** What the document client's `send` does with a command, by the command's name. Every table is the same one. */
export const sendToTable = (
  world: World,
  command: string,
  input: Input,
  limits: ClientLimits,
): Promise<unknown> => {
  const { table } = world;
  const { functionName = '' } = invocations.getStore() ?? {};
  if (world.mutation?.drops?.(functionName, command, input)) return Promise.resolve({});
  const call = <T>(perform: () => T, more: Partial<Call<T>> = {}) =>
    makeCall<T>(world, {
      unheard: () => noteUnheard(world, [(input.Item ?? {}) as Item]),
      name: `${command} ${subjectOf(input)}`,
      service: 'table',
      partitions: partitionsOf(input),
      ...limits,
      perform,
      ...more,
    });
  const single = (kind: Write['kind']) => {
    const write = { ...(input as Partial<Write>), kind };
    return call(() => table.write(write), { conflict: () => table.conflict() });
  };
  switch (command) {
    case 'GetCommand':
      return call(() => ({ Item: table.get(input.Key as Item) }));
    case 'BatchGetCommand':
      return batchGet(world, input, limits);
    case 'QueryCommand': {
      const { begin, readOn } = tornQuery(table, world.random, input as unknown as QueryCommandInput);
      return call(begin, { readOn });
    }
    case 'PutCommand':
      return single('Put');
    case 'UpdateCommand':
      return single('Update');
    case 'DeleteCommand':
      return single('Delete');
    case 'BatchWriteCommand':
      return call(() => batchWrite(world, input.RequestItems as BatchWrite, true), {
        name: command,
        partly: () => batchWrite(world, input.RequestItems as BatchWrite, false),
      });
    case 'TransactWriteCommand':
      return transact(world, writesOf(input), limits);
    default:
      throw new Error(`The table does not know ${command}.`);
  }
};

/** The partitions of the table that a call is about; none for a query of an index. */
const partitionsOf = (input: Input): string[] => {
  const {
    Key,
    Item: item,
    IndexName,
    RequestItems,
    ExpressionAttributeValues,
  } = input as Record<string, Item>;
  if (Key ?? item) return [String((Key ?? item)?.PK)];
  if (RequestItems) {
    const [requests] = Object.values(RequestItems as Record<string, BatchWrite[string] | BatchGet[string]>);
    const keys = Array.isArray(requests)
      ? requests.map(({ DeleteRequest }) => DeleteRequest.Key)
      : (requests?.Keys ?? []);
    return keys.map((key) => String(key?.PK));
  }
  return IndexName ? [] : Object.values(ExpressionAttributeValues ?? {}).map(String);
};

const subjectOf = (input: Input): string => {
  const { Key, Item: item, IndexName } = input as { Key?: Item; Item?: Item; IndexName?: string };
  const key = Key ?? item;
  return key ? `${key.PK}|${key.SK}` : (IndexName ?? '');
};

/** The writes of a transaction's input. */
export const writesOf = (input: Input): Write[] =>
  (input.TransactItems as Record<string, Omit<Write, 'kind'>>[]).map((item) => {
    const [[kind, write] = []] = Object.entries(item);
    return { ...write, kind: kind as Write['kind'] };
  });

/** A transaction, or what a mutation of the service makes of it: several ones in turn, or weaker ones. */
const transact = async (world: World, writes: readonly Write[], limits: ClientLimits): Promise<unknown> => {
  const parts = world.mutation?.writes?.(writes) ?? [writes];
  let answer: unknown;
  for (const part of parts) {
    const token = {};
    answer = await makeCall(world, {
      name: `TransactWrite ${part.map(({ Key, Item: item }) => (Key ?? item)?.SK).join(', ')}`,
      service: 'table',
      partitions: part.map(({ Key, Item: item }) => String((Key ?? item)?.PK)),
      ...limits,
      throttled: () => world.table.throttledIn(part.length),
      perform: () => world.table.transact(part, token),
      conflict: () => world.table.conflictOf(part.length),
      underWay: () => world.table.inProgress(),
      unheard: () =>
        noteUnheard(
          world,
          part.map(({ Item: item }) => item ?? {}),
        ),
    });
  }
  return answer;
};

/** A process that never learns that its claim was written cannot make the call. */
const noteUnheard = ({ evidence }: World, puts: readonly Item[]): void => {
  for (const { SK, requestId } of puts) {
    if (String(SK).startsWith('ATTEMPT#')) evidence.interrupted.add(requestId);
  }
};

type BatchGet = Record<string, { Keys: Item[] }>;
type BatchWrite = Record<string, { DeleteRequest: { Key: Item } }[]>;

/** How many of a batch's items are done when not all are: DynamoDB always does at least one. */
const shareOf = (items: number, all: boolean): number => (all ? items : Math.max(1, items >> 1));

const batchGet = async (world: World, input: Input, limits: ClientLimits): Promise<unknown> => {
  const [[name, { Keys }] = ['', { Keys: [] }]] = Object.entries(input.RequestItems as BatchGet);
  const { table, random } = world;
  for (const listen of world.onBatchRead) listen(Keys);
  const share = shareOf(Keys.length, false);
  const whole = { reads: tornBatch(table, random, Keys), rest: [] as Item[] };
  const part = { reads: tornBatch(table, random, Keys.slice(0, share)), rest: Keys.slice(share) };
  const { found, rest } = await makeCall(world, {
    name: 'BatchGetCommand',
    service: 'table',
    partitions: partitionsOf(input),
    ...limits,
    perform: () => ({ ...whole, found: whole.reads.begin() }),
    partly: () => ({ ...part, found: part.reads.begin() }),
    readOn: (answer) => ({ ...answer, found: answer.reads.readOn(answer.found) }),
  });
  const UnprocessedKeys = rest.length > 0 ? { [name]: { Keys: rest } } : {};
  const reader = invocations.getStore();
  const read = found.map((item) => world.mutation?.reads?.(item, reader) ?? item);
  return { Responses: { [name]: read.toReversed() }, UnprocessedKeys };
};

const batchWrite = (world: World, request: BatchWrite, all: boolean) => {
  const [[name, requests] = ['', []]] = Object.entries(request);
  const share = shareOf(requests.length, all);
  for (const { DeleteRequest } of requests.slice(0, share))
    world.table.write({ kind: 'Delete', Key: DeleteRequest.Key });
  const rest = requests.slice(share);
  return { UnprocessedItems: rest.length > 0 ? { [name]: rest } : {} };
};
