/** Measures handlers and prints their `Times` as JSON: page size, runs to warm up, runs of a batch, batches. */
import '../../test/unit/builders/environment.ts';
import { generateKeyPairSync, sign } from 'node:crypto';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { insertAccount } from '../../core/accounts/accounts.ts';
import { insertApiKey, SCOPES } from '../../core/accounts/api-keys.ts';
import { newRequestId } from '../../core/ids.ts';
import { changeBalance } from '../../core/ledger/change-balance.ts';
import { requestKey } from '../../core/table/keys.ts';
import { table } from '../../core/table/table.ts';
import { addSeconds, toInstant } from '../../core/time.ts';
import { handler as create } from '../../functions/api/create-generation.ts';
import { handler as read } from '../../functions/api/get-generation.ts';
import { handler as list } from '../../functions/api/list-generations.ts';
import { aLambdaContext, anApiEvent } from '../../test/unit/builders/api-events.ts';
import { anImageRequest, aStoredOutput, listingOf } from '../../test/unit/builders/entities.ts';
import { aSigningKey } from '../../test/unit/builders/signing-key.ts';
import { MemoryExecutions } from '../../test/unit/fakes/memory-executions.ts';
import { MemorySecrets } from '../../test/unit/fakes/memory-secrets.ts';
import { MemoryTable } from '../../test/unit/fakes/memory-table.ts';
import { StandIns } from './stand-ins.ts';

/** Microseconds of a run; of a signature alone. */
export interface Times {
  create: number;
  readUnfinished: number;
  read: number;
  list: number;
  signature: number;
}

const [pageSize = 0, warmRuns = 0, runs = 0, batches = 0] = process.argv.slice(2).map(Number);
const EMAIL = 'ada@example.com';
const OUTPUT_TTL_SECONDS = 82_800;
const LIMITS = { requestsPerSecond: 1_000_000, burst: 1_000_000 };
const BODY = { model: 'xSD4.5', prompt: 'a lighthouse at dusk', endUserEmail: EMAIL };
const OPENING = { amountThousandths: 1_000_000_000, reason: 'topup', reference: '' } as const;
/** Each call is made a first time; settings and secrets are read again now and then. Neither is a stand-in's answer. */
const FIRST_CALLS = 10;
const MOST_UNKNOWN_SHARE = 0.01;

/** What runs hold on to: an account with requests, the headers of its key, and the ids of a succeeded and a queued request. */
const openAccount = async () => {
  const memory = new MemoryTable(table);
  new MemoryExecutions();
  const secrets = new MemorySecrets();
  secrets.reset();
  secrets.set('arn:delivery-key', aSigningKey().privateKeyPem);
  secrets.set('arn:modelark-key', 'key');
  const now = new Date();
  const account = await insertAccount('account', now);
  const key = { scopes: SCOPES, label: '', limits: LIMITS };
  const { text: apiKey } = await insertApiKey(account.accountId, key, now);
  await changeBalance(account.accountId, OPENING, now);
  const requestIds = Array.from({ length: 2 * pageSize }, (_, number) =>
    putSucceeded(memory, account.accountId, new Date(now.getTime() - 60_000 - 1_000 * number)),
  );
  const [requestId = ''] = requestIds;
  const headers = { Authorization: `Bearer ${apiKey}` };
  const created = await create(anApiEvent({ body: BODY, headers }), aLambdaContext());
  const { requestId: queuedId } = JSON.parse(created.body) as { requestId: string };
  return { requestId, queuedId, headers };
};

/** Puts a request with one stored image, which succeeded at once. Returns its id. */
const putSucceeded = (memory: MemoryTable, accountId: string, at: Date): string => {
  const requestId = newRequestId('image', at);
  const createdAt = toInstant(at);
  const request = anImageRequest({
    ...{ requestId, accountId, createdAt, finishedAt: createdAt, status: 'succeeded' },
    ...{ costThousandths: 4_000, refundThousandths: 0, expiresAt: addSeconds(createdAt, OUTPUT_TTL_SECONDS) },
    outputs: [aStoredOutput(0, { objectKey: `outputs/${requestId}/0.png` })],
  });
  memory.put(requestKey(requestId), { ...listingOf(request), ...request });
  return requestId;
};

/** Processor time of the handlers' thread in microseconds: other work on the machine counts little. */
const processorTime = (): number => {
  const { user, system } = process.threadCpuUsage();
  return user + system;
};

/** The median over batches of a run's microseconds. */
const medianOf = async (run: () => unknown): Promise<number> => {
  const batch = async (times: number): Promise<number> => {
    const start = processorTime();
    for (let time = 0; time < times; time++) await run();
    return (processorTime() - start) / times;
  };
  await batch(warmRuns);
  const times: number[] = [];
  for (let index = 0; index < batches; index++) times.push(await batch(runs));
  return times.toSorted((one, other) => one - other)[Math.floor(batches / 2)] ?? 0;
};

const main = async (): Promise<void> => {
  const { requestId, queuedId, headers } = await openAccount();
  const standIns = new StandIns([table, SFNClient.prototype, SecretsManagerClient.prototype]);
  const context = aLambdaContext();
  const timeOf = async (
    handler: typeof create,
    status: number,
    options: Parameters<typeof anApiEvent>[0],
  ): Promise<number> => {
    standIns.reset();
    const event = anApiEvent({ ...options, headers });
    const time = await medianOf(async () => {
      const answer = await handler(event, context);
      if (answer.statusCode !== status) throw new Error(`Answered ${answer.body}`);
    });
    if (standIns.unknown > FIRST_CALLS + MOST_UNKNOWN_SHARE * runs * batches) {
      throw new Error(`${standIns.unknown} calls were made for the first time.`);
    }
    return time;
  };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const policy = Buffer.alloc(180);
  const ofRequest = { pathParameters: { requestId } };
  const page = { query: { pageSize: [String(pageSize)] } };
  const times: Times = {
    readUnfinished: await timeOf(read, 200, { pathParameters: { requestId: queuedId } }),
    read: await timeOf(read, 200, ofRequest),
    list: await timeOf(list, 200, page),
    create: await timeOf(create, 202, { body: BODY }),
    signature: await medianOf(() => sign('sha256', policy, privateKey)),
  };
  process.stdout.write(JSON.stringify(times));
};

await main();
