import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { keyText } from '../../test/simulation/world/aws/indexes.ts';
import type { Handler } from '../../test/simulation/world/aws/lambda.ts';
import type { Deployment } from '../../test/simulation/world/aws/step-functions.ts';
import { writesOf } from '../../test/simulation/world/aws/table-client.ts';
import { invocations } from '../../test/simulation/world/engine/invocation.ts';
import type { World } from '../../test/simulation/world/world.ts';
import { captureLogs } from '../simulated/logs.ts';
import { itemBytes, readUnits, writeUnits } from './table-units.ts';

type Item = Record<string, unknown>;
interface SentCommand {
  constructor: { name: string };
  input: Record<string, unknown>;
}
type Send = (this: object, command: SentCommand) => Promise<unknown>;

/** What a function used of AWS. */
export interface Usage {
  invocations: number;
  /** From the call of its handler to its end, in milliseconds of virtual time: only waiting takes any. */
  milliseconds: number;
  /** The part of it that waits for servers outside AWS. */
  providerMilliseconds: number;
  /** Calls through the SDK. */
  calls: number;
  writeUnits: number;
  readUnits: number;
  bucketWrites: number;
  bucketReads: number;
  secretReads: number;
  /** What it writes itself, without the lines of Lambda. */
  logBytes: number;
}

/** The name under which the reconciler's work for no request in particular is metered: its time, its due lists, its own items. */
export const LOOP = 'loop';
const RECONCILER = 'events/reconcile';

/** Meters by function; the reconciler's work on items of a request stands under its own name. */
export interface Meters {
  functions: Map<string, Usage>;
  /** Entered states by state machine, which is how Step Functions counts transitions. */
  transitions: Map<string, number>;
}

const newUsage = (): Usage => ({
  invocations: 0,
  milliseconds: 0,
  providerMilliseconds: 0,
  calls: 0,
  writeUnits: 0,
  readUnits: 0,
  bucketWrites: 0,
  bucketReads: 0,
  secretReads: 0,
  logBytes: 0,
});
const newMeters = (): Meters => ({ functions: new Map(), transitions: new Map() });

let world: World | undefined;
let meters = newMeters();
/** The meters from now on. Returns those until now. */
export const readMeters = (): Meters => {
  const read = meters;
  meters = newMeters();
  return read;
};

/** The sum of usages. */
export const totalUsage = (usages: Iterable<Usage>): Usage => {
  const sum = newUsage();
  for (const usage of usages)
    for (const name of Object.keys(sum) as (keyof Usage)[]) sum[name] += usage[name];
  return sum;
};

/** Two readings as one. */
export const togetherOf = (first: Meters, second: Meters): Meters => {
  const names = new Set([...first.functions.keys(), ...second.functions.keys()]);
  const machines = new Set([...first.transitions.keys(), ...second.transitions.keys()]);
  const both = [first, second];
  return {
    functions: new Map(
      [...names].map((name) => [
        name,
        totalUsage(both.flatMap(({ functions }) => functions.get(name) ?? [])),
      ]),
    ),
    transitions: new Map(
      [...machines].map((machine) => [
        machine,
        both.reduce((sum, { transitions }) => sum + (transitions.get(machine) ?? 0), 0),
      ]),
    ),
  };
};

const usageOf = (name: string): Usage => {
  const usage = meters.functions.get(name) ?? newUsage();
  meters.functions.set(name, usage);
  return usage;
};

/** Under which name the running function's work is metered, unless it is on an item of a request. */
const currentName = (): string => {
  const { functionName = 'nobody' } = invocations.getStore() ?? {};
  return functionName === RECONCILER ? LOOP : functionName;
};

/** Who pays for a call about an item, or a query of an index without one. */
const payerOf = (key: Item): Usage => {
  const name = currentName();
  return usageOf(name === LOOP && String(key.PK).startsWith('REQUEST#') ? RECONCILER : name);
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

const chargeRead = ({ constructor: { name }, input }: SentCommand, answer: unknown): void => {
  const chargeItem = (key: Item, isConsistent: boolean): void => {
    payerOf(key).readUnits += readUnits(itemBytes(world?.table.items.get(keyText(key))), isConsistent);
  };
  if (name === 'GetCommand') chargeItem(input.Key as Item, input.ConsistentRead === true);
  else if (name === 'BatchGetCommand') {
    const tables = Object.values(
      input.RequestItems as Record<string, { Keys: Item[]; ConsistentRead?: boolean }>,
    );
    for (const { Keys, ConsistentRead = false } of tables)
      for (const key of Keys) chargeItem(key, ConsistentRead);
  } else {
    const { Items = [] } = answer as { Items?: Item[] };
    const bytes = Items.reduce((sum, item) => sum + itemBytes(item), 0);
    const values = Object.values((input.ExpressionAttributeValues ?? {}) as Item).map(String);
    const partition = values.find((value) => value.startsWith('REQUEST#'));
    payerOf({ PK: partition }).readUnits += readUnits(bytes, input.ConsistentRead === true);
  }
};

const BUCKET_READS = new Set(['GetObjectCommand', 'HeadObjectCommand']);
/** Removals cost nothing. */
const BUCKET_FREE = new Set(['DeleteObjectCommand', 'DeleteObjectsCommand', 'AbortMultipartUploadCommand']);

/** Meters each call of a client class. */
const meterClient = (
  client: { prototype: object },
  meter: (command: SentCommand, send: () => Promise<unknown>) => Promise<unknown>,
): void => {
  const prototype = client.prototype as { send: Send };
  const { send } = prototype;
  prototype.send = function (command) {
    const call = (): Promise<unknown> => send.call(this, command);
    if (!world) return call();
    usageOf(currentName()).calls++;
    return meter(command, call);
  };
};

let isInstalled = false;
const install = (): void => {
  isInstalled = true;
  meterClient(DynamoDBDocumentClient, async (command, send) => {
    if (isRead(command.constructor.name)) {
      const answer = await send();
      chargeRead(command, answer);
      return answer;
    }
    const isTransaction = command.constructor.name === 'TransactWriteCommand';
    const keys = writtenKeys(command);
    const stored = (key: Item): Item | undefined => world?.table.items.get(keyText(key));
    const before = keys.map(stored);
    try {
      return await send();
    } finally {
      for (const [index, key] of keys.entries())
        payerOf(key).writeUnits += writeUnits(before[index], stored(key), isTransaction);
    }
  });
  meterClient(S3Client, ({ constructor: { name } }, send) => {
    if (BUCKET_READS.has(name)) usageOf(currentName()).bucketReads++;
    else if (!BUCKET_FREE.has(name)) usageOf(currentName()).bucketWrites++;
    return send();
  });
  meterClient(SecretsManagerClient, (_command, send) => {
    usageOf(currentName()).secretReads++;
    return send();
  });
  meterClient(SFNClient, (_command, send) => send());
  captureLogs((bytes) => {
    if (world) usageOf(currentName()).logBytes += bytes;
  });
};

/** Wraps the functions of a deployment, so that their runs are metered. */
export const metered = (deployment: Deployment): Deployment => ({
  ...deployment,
  functions: new Map(
    [...deployment.functions].map(([stem, fn]) => [stem, { ...fn, handler: timed(fn.name, fn.handler) }]),
  ),
});

const waited = new WeakMap<object, number>();

const timed =
  (name: string, handler: Handler): Handler =>
  async (event, context) => {
    const scheduler = world?.scheduler;
    const began = scheduler?.now ?? 0;
    try {
      return await handler(event, context);
    } finally {
      const usage = usageOf(name === RECONCILER ? LOOP : name);
      usage.invocations++;
      usage.milliseconds += (scheduler?.now ?? 0) - began;
      usage.providerMilliseconds += waited.get(invocations.getStore() ?? {}) ?? 0;
    }
  };

/** Puts meters on a world whose deployment is `metered`; the world metered before has none from now on. */
export const putMeters = (metering: World): void => {
  if (!isInstalled) install();
  world = metering;
  meters = newMeters();
  const { http, scheduler, stepFunctions } = metering;
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
  stepFunctions.onEntered = ({ machine }) => {
    meters.transitions.set(machine, (meters.transitions.get(machine) ?? 0) + 1);
  };
};
