import '../unit/builders/environment.ts';
import {
  DescribeTableCommand,
  DynamoDBClient,
  TagResourceCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { DeleteCommand, DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll } from '@jest/globals';
import { getAccount } from '../../core/accounts/accounts.ts';
import { writeCreation } from '../../core/creation/write-creation.ts';
import { deleteEndUser } from '../../core/deletion/delete-end-user.ts';
import { deleteRequest } from '../../core/deletion/delete-requests.ts';
import { blockEndUser, getEndUser } from '../../core/end-users/end-users.ts';
import { endRequest } from '../../core/ending/end-request.ts';
import { settled } from '../../core/ending/settled.ts';
import { newRequestId } from '../../core/ids.ts';
import { recordOutputs } from '../../core/requests/requests.ts';
import { dueListing, endUserKey, type ItemKey, requestKey } from '../../core/table/keys.ts';
import { anImageRequest, aStoredOutput } from '../unit/builders/entities.ts';
import { startRestorableService } from './a-restorable-service.ts';
import { TABLE_NAME } from './a-service.ts';

const ADA = 'ada@example.com';

/** The end-user who is deleted. */
export const BOB = 'bob@example.com';

/** The end-user who is blocked. */
export const CAROL = 'carol@example.com';

/** The end-user who is lost. */
export const DAVE = 'dave@example.com';

/** The service whose table is restored. */
export const service = await startRestorableService();

afterAll(() => service.stop());

/** The client of the tables. */
export const dynamoDb = new DynamoDBClient({});

/** The client of the executions. */
export const sfn = new SFNClient({});

/** What `table restore` prints as JSON. */
export interface Report {
  table: string;
  living: string;
  restoredTo: string;
  ledger: { accounts: number; entries: number; problems: unknown[] };
  entities: {
    entity: string;
    restored: number;
    living: number;
    added: number;
    gone: number;
    changed: number;
  }[];
  newest: Record<'restored' | 'living', { request: string | null; ledgerEntry: string | null }>;
  adopted: boolean;
  deploy: string;
  [part: string]: unknown;
}

/** Accepts a request for an image at 4 xTokens, and gives it an execution that ends. */
const create = async (accountId: string, endUserEmail: string): Promise<string> => {
  const now = new Date();
  const requestId = newRequestId('image', now);
  const request = anImageRequest({
    requestId,
    accountId,
    endUserEmail,
    endUserId: requestId,
    createdAt: now.toISOString(),
  });
  const account = await getAccount(accountId);
  const endUser = await getEndUser({ accountId, email: endUserEmail }).catch(() => undefined);
  const judged = { request, account, endUser, idempotency: undefined, keyId: 'key_1', work: [], now };
  await writeCreation({ kind: 'judged', ...judged });
  const input = JSON.stringify({ requestId });
  await sfn.send(new StartExecutionCommand({ stateMachineArn: service.generation, name: requestId, input }));
  await DynamoDBDocumentClient.from(dynamoDb).send(
    new UpdateCommand({
      TableName: TABLE_NAME,
      Key: requestKey(requestId),
      UpdateExpression: 'SET #status = :processing, GSI1PK = :list',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':processing': 'processing',
        ':list': dueListing('CHECK', requestId, '').GSI1PK,
      },
    }),
  );
  return requestId;
};

const succeed = async (requestId: string): Promise<void> => {
  await recordOutputs(requestId, [aStoredOutput(0)]);
  await endRequest(requestId, settled);
};

/** A change of the table that no call of the API makes. */
const wipe = async (Key: ItemKey): Promise<void> => {
  await DynamoDBDocumentClient.from(dynamoDb).send(new DeleteCommand({ TableName: TABLE_NAME, Key }));
};

/** An account with its key, and a table as an operator has it. */
const begin = async () => {
  const { accountId } = await service.json<{ accountId: string }>('accounts', 'create', '--name', 'First');
  const { keyId } = await service.json<{ keyId: string }>('keys', 'create', '--account', accountId);
  await service.json('balance', 'topup', '--account', accountId, '--amount', '1000');
  const { Table } = await dynamoDb.send(new DescribeTableCommand({ TableName: TABLE_NAME }));
  const Tags = [{ Key: 'service', Value: 'GenerationService' }];
  await dynamoDb.send(new TagResourceCommand({ ResourceArn: Table?.TableArn, Tags }));
  await dynamoDb.send(new UpdateTableCommand({ TableName: TABLE_NAME, DeletionProtectionEnabled: true }));
  return { accountId, keyId };
};

/**
 * A request of each fate after the instant. `kept` stays as it is, `open` ends, and `deleted` ends and is deleted. `bobs`
 * goes with its end-user. `wiped` is lost with its end-user, by no call of the API.
 */
const makeRequests = async (accountId: string) => {
  const ids = {
    kept: await create(accountId, ADA),
    open: await create(accountId, ADA),
    deleted: await create(accountId, ADA),
    bobs: await create(accountId, BOB),
    wiped: await create(accountId, DAVE),
  };
  await create(accountId, CAROL);
  await succeed(ids.kept);
  await succeed(ids.bobs);
  await succeed(ids.wiped);
  return ids;
};

/** Creates records after the instant of the restore: the restored table lacks these records. */
const makeWhatIsLost = async (accountId: string) => {
  const other = await service.json<{ accountId: string }>('accounts', 'create', '--name', 'Second');
  const key = await service.json<{ keyId: string }>('keys', 'create', '--account', accountId);
  const entry = await service.json<{ id: string }>(
    ...['balance', 'topup', '--account', accountId, '--amount', '50', '--note', 'invoice 7'],
  );
  const requestId = await create(accountId, ADA);
  return { accountId: other.accountId, keyId: key.keyId, entryId: entry.id, requestId };
};

/**
 * Restores the table as of its latest instant, and goes on with the table of the service, which thereby differs from the restored
 * one. `first` is the report of the restore; `ids` name the requests from before, `lost` the records made since.
 */
export const restoreAndGoOn = async () => {
  const { accountId, keyId } = await begin();
  const ids = await makeRequests(accountId);
  const first = await service.json<Report>('table', 'restore', '--at', 'latest');

  await succeed(ids.open);
  await succeed(ids.deleted);
  await deleteRequest(accountId, ids.deleted, new Date());
  await deleteEndUser({ accountId, email: BOB });
  await blockEndUser({ accountId, email: CAROL }, new Date());
  await wipe(requestKey(ids.wiped));
  await wipe(endUserKey(accountId, DAVE));
  await service.json('keys', 'revoke', '--key-id', keyId);
  await service.json('accounts', 'rotate-webhook-secret', '--account', accountId);
  const lost = await makeWhatIsLost(accountId);
  await service.json('accounts', 'block', '--account', accountId);
  return { accountId, keyId, ids, first, lost };
};
