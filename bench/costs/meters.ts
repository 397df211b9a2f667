import { S3Client } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { keyText } from '../../test/simulation/aws/indexes.ts';
import { writesOf } from '../../test/simulation/aws/table-client.ts';
import { invocations } from '../../test/simulation/engine/invocation.ts';
import type { World } from '../../test/simulation/world.ts';
import { itemBytes, readUnits, writeUnits } from './table-units.ts';

type Item = Record<string, unknown>;
interface SentCommand {
  constructor: { name: string };
  input: Record<string, unknown>;
}
type Send = (this: object, command: SentCommand) => Promise<unknown>;

/** What a request used of AWS. */
export interface Meters {
  writeUnits: number;
  readUnits: number;
  apiCalls: number;
  invocations: number;
  /** Of processor and waiting together, without the waiting for providers and other servers. */
  gigabyteSeconds: number;
  /** Of waiting for providers and other servers. */
  waitingGigabyteSeconds: number;
  transitions: number;
  bucketWrites: number;
  bucketReads: number;
  /** Write units by function. */
  writeUnitsBy: Map<string, number>;
}

/** Meters that show nothing yet. */
export const newMeters = (): Meters => ({
  writeUnits: 0,
  readUnits: 0,
  apiCalls: 0,
  invocations: 0,
  gigabyteSeconds: 0,
  waitingGigabyteSeconds: 0,
  transitions: 0,
  bucketWrites: 0,
  bucketReads: 0,
  writeUnitsBy: new Map(),
});

let meters = newMeters();
/** The meters from now on. Returns those until now. */
export const readMeters = (): Meters => {
  const read = meters;
  meters = newMeters();
  return read;
};

const GIGABYTES: Record<string, number> = { 'workflow/store-outputs': 1, 'workflow/verify-ledgers': 1 };
const DEFAULT_GIGABYTES = 0.5;
/** Processor time of a run, which the simulation's clock does not show: on the long side for a warm function. */
const PROCESSOR_SECONDS = 0.01;

const charge = (units: number): void => {
  meters.writeUnits += units;
  const by = invocations.getStore()?.functionName ?? 'nobody';
  meters.writeUnitsBy.set(by, (meters.writeUnitsBy.get(by) ?? 0) + units);
};

/** The keys that a command writes, and whether in a transaction. */
const writtenKeys = ({ constructor: { name }, input }: SentCommand): Item[] => {
  if (name === 'TransactWriteCommand') return writesOf(input).map(({ Key, Item: item }) => Key ?? item ?? {});
  if (name === 'BatchWriteCommand')
    return Object.values(
      input.RequestItems as Record<string, { DeleteRequest?: { Key: Item }; PutRequest?: { Item: Item } }[]>,
    )
      .flat()
      .map(({ DeleteRequest, PutRequest }) => DeleteRequest?.Key ?? PutRequest?.Item ?? {});
  return [(input.Key ?? input.Item ?? {}) as Item];
};

const isRead = (name: string): boolean => ['GetCommand', 'BatchGetCommand', 'QueryCommand'].includes(name);

const chargeRead = (world: World, { constructor: { name }, input }: SentCommand, answer: unknown): void => {
  const strong = (keys: readonly Item[]): number =>
    keys.reduce((sum, key) => sum + readUnits(itemBytes(world.table.items.get(keyText(key))), true), 0);
  if (name === 'GetCommand') meters.readUnits += strong([input.Key as Item]);
  else if (name === 'BatchGetCommand')
    meters.readUnits += strong(
      Object.values(input.RequestItems as Record<string, { Keys: Item[] }>).flatMap(({ Keys }) => Keys),
    );
  else {
    const { Items = [] } = answer as { Items?: Item[] };
    const bytes = Items.reduce((sum, item) => sum + itemBytes(item), 0);
    meters.readUnits += readUnits(bytes, input.ConsistentRead === true);
  }
};

const BUCKET_READS = new Set(['GetObjectCommand', 'HeadObjectCommand']);
/** Removals cost nothing. */
const BUCKET_FREE = new Set(['DeleteObjectCommand', 'DeleteObjectsCommand', 'AbortMultipartUploadCommand']);

/** Puts meters on a world of the simulation. One request at a time, so that all that is metered is its own. */
export const putMeters = (world: World): void => {
  const table = DynamoDBDocumentClient.prototype as unknown as { send: Send };
  const sendToTable = table.send;
  table.send = async function (command) {
    if (isRead(command.constructor.name)) {
      const answer = await sendToTable.call(this, command);
      chargeRead(world, command, answer);
      return answer;
    }
    const isTransaction = command.constructor.name === 'TransactWriteCommand';
    const keys = writtenKeys(command).map(keyText);
    const before = keys.map((key) => world.table.items.get(key));
    try {
      return await sendToTable.call(this, command);
    } finally {
      for (const [index, key] of keys.entries())
        charge(writeUnits(before[index], world.table.items.get(key), isTransaction));
    }
  };
  const bucket = S3Client.prototype as unknown as { send: Send };
  const sendToBucket = bucket.send;
  bucket.send = function (command) {
    const { name } = command.constructor;
    if (BUCKET_READS.has(name)) meters.bucketReads += 1;
    else if (!BUCKET_FREE.has(name)) meters.bucketWrites += 1;
    return sendToBucket.call(this, command);
  };
  meterTime(world);
};

const meterTime = (world: World): void => {
  const waited = new Map<object, number>();
  const { http, lambda, scheduler, stepFunctions } = world;
  const request = http.request.bind(http);
  http.request = async (asked) => {
    const began = scheduler.now;
    const invocation = invocations.getStore();
    try {
      return await request(asked);
    } finally {
      if (invocation) waited.set(invocation, (waited.get(invocation) ?? 0) + scheduler.now - began);
    }
  };
  const run = lambda.run.bind(lambda);
  lambda.run = async (fn, payload) => {
    const began = scheduler.now;
    const earlier = new Set(waited.keys());
    try {
      return await run(fn, payload);
    } finally {
      const gigabytes = GIGABYTES[fn.name] ?? DEFAULT_GIGABYTES;
      const own = [...waited].filter(([invocation]) => !earlier.has(invocation));
      const waitingMs = own.reduce((sum, [, milliseconds]) => sum + milliseconds, 0);
      const seconds = (scheduler.now - began - waitingMs) / 1_000 + PROCESSOR_SECONDS;
      meters.invocations += 1;
      meters.gigabyteSeconds += Math.max(PROCESSOR_SECONDS, seconds) * gigabytes;
      meters.waitingGigabyteSeconds += (waitingMs / 1_000) * gigabytes;
    }
  };
  stepFunctions.onEntered = () => {
    meters.transitions += 1;
  };
};

/** Counts a call of the API. */
export const countApiCall = (): void => {
  meters.apiCalls += 1;
};
