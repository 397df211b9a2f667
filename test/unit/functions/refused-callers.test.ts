import '../builders/environment.ts';
import { clearCaches } from '@aws-lambda-powertools/parameters';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { newKey } from '../../../core/accounts/api-key-text.ts';
import { revokeApiKey, SCOPES } from '../../../core/accounts/api-keys.ts';
import { type EndpointName, ROUTES } from '../../../core/routes.ts';
import { endUserKey, endUserListing, ledgerEntryKey } from '../../../core/table/keys.ts';
import { table } from '../../../core/table/table.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { aGenerationBody, aVideoBody } from '../builders/bodies.ts';
import { aCaller } from '../builders/callers.ts';
import { NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  aLedgerEntry,
  anEndUser,
  anImageRequest,
  aVideoRequest,
  EMAIL,
  putRequest,
  REQUEST_ID,
  VIDEO_ID,
} from '../builders/entities.ts';
import { aSigningKey } from '../builders/signing-key.ts';
import { stopTime } from '../builders/stop-time.ts';
import { MemoryExecutions } from '../fakes/memory-executions.ts';
import { MemorySecrets } from '../fakes/memory-secrets.ts';
import { MemoryTable } from '../fakes/memory-table.ts';

const memory = new MemoryTable(table);
const secrets = new MemorySecrets();
new MemoryExecutions();

/** Fills the account that a forged key names, for an unguarded read to find. */
const fill = (): void => {
  for (let number = 1; number <= 60; number++) {
    const createdAt = new Date(NOW.getTime() + number).toISOString();
    const email = `user-${number}@example.com`;
    memory.put(endUserKey(ACCOUNT_ID, email), {
      ...anEndUser({ email }),
      ...endUserListing(ACCOUNT_ID, createdAt),
    });
    memory.put(ledgerEntryKey(ACCOUNT_ID, number), aLedgerEntry(number));
  }
  putRequest(memory, anImageRequest());
  putRequest(memory, aVideoRequest());
};

beforeEach(() => {
  clearCaches();
  memory.reset();
  secrets.reset();
  secrets.set('arn:delivery-key', aSigningKey().privateKeyPem);
  secrets.set('arn:modelark-key', 'key');
  secrets.set('arn:modelstudio-key', 'key');
  fill();
  stopTime(NOW);
});

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;
const names = (Object.keys(ROUTES) as EndpointName[]).filter((name) => name !== 'receive-callback');
const handlers = new Map<EndpointName, Handler>();
for (const name of names) handlers.set(name, (await import(`../../../functions/api/${name}.ts`)).handler);

/** A request that does the most work on each route when nothing refuses it. */
const MOST_WORK: Partial<Record<EndpointName, Parameters<typeof anApiEvent>[0]>> = {
  'list-end-users': { query: { page: ['1000000'], email: ['user'] } },
  'list-generations': { query: { page: ['1000000'], endUserEmail: [EMAIL] } },
  'list-balance-history': { query: { page: ['3'] } },
  'create-generation': { body: aGenerationBody() },
  'create-video': { body: aVideoBody() },
  'bulk-delete-generations': { body: { requestIds: [REQUEST_ID, VIDEO_ID] } },
};
/** Single items that a route reads while the key is looked up. */
const READS_BESIDE: Partial<Record<EndpointName, number>> = { 'get-generation': 1, 'get-video': 2 };

const call = async (name: EndpointName, headers: Record<string, string>) => {
  const handler = handlers.get(name);
  if (!handler) throw new Error(`${name} has no handler.`);
  const pathParameters = { email: EMAIL, requestId: name === 'get-video' ? VIDEO_ID : REQUEST_ID };
  memory.client.resetHistory();
  return read(
    await handler(
      anApiEvent({ resource: name, headers, pathParameters, ...MOST_WORK[name] }),
      aLambdaContext(),
    ),
  );
};

/** Every way in which a caller is refused after the text of the key has been found well-formed. */
const REFUSED: [string, number, string, () => Promise<Record<string, string>>][] = [
  [
    'a forged key of a stranger',
    401,
    'unauthorized',
    async () => {
      await aCaller(memory);
      return { Authorization: `Bearer ${newKey(ACCOUNT_ID).text}` };
    },
  ],
  [
    'a forged key of no account',
    401,
    'unauthorized',
    async () => ({ Authorization: `Bearer ${newKey('acc_01JD4KXQ8M0000000000000009').text}` }),
  ],
  [
    'a revoked key',
    401,
    'unauthorized',
    async () => {
      const { keyId, headers } = await aCaller(memory);
      await revokeApiKey(keyId, NOW);
      return headers;
    },
  ],
  [
    'a blocked account',
    401,
    'account_blocked',
    async () => (await aCaller(memory, { account: { blockedAt: NOW.toISOString() } })).headers,
  ],
  ['no scope', 403, 'forbidden', async () => (await aCaller(memory, { scopes: [] })).headers],
  [
    'no calls left',
    429,
    'rate_limited',
    async () => (await aCaller(memory, { scopes: SCOPES, isExhausted: true })).headers,
  ],
];

describe.each(names)('%s', (name) => {
  test.each(REFUSED)('sets off the same single-item calls for %s', async (_, status, code, given) => {
    const answer = await call(name, await given());

    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(memory.calls()).toEqual({ UpdateCommand: 1, GetCommand: 1 + (READS_BESIDE[name] ?? 0) });
  });

  test('sets off no call for a key whose checksum is wrong', async () => {
    const text = newKey(ACCOUNT_ID).text;
    const last = text.endsWith('0') ? '1' : '0';

    expect((await call(name, { Authorization: `Bearer ${text.slice(0, -1)}${last}` })).status).toBe(401);
    expect(memory.calls()).toEqual({});
  });
});
