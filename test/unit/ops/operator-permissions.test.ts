import { beforeEach, expect, test } from '@jest/globals';
import { insertApiKey } from '../../../core/accounts/api-keys.ts';
import type { AttemptOutcome } from '../../../core/provider-calls/provider-attempts.ts';
import { namesOfProvider, PROVIDER_IDS } from '../../../core/provider-names.ts';
import { providerAttemptKey } from '../../../core/table/keys.ts';
import { NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anAttempt,
  anEndUser,
  anImageRequest,
  EMAIL,
  putAccount,
  putEndUser,
  putRequest,
  REQUEST_ID,
} from '../builders/entities.ts';
import { readDocument, tableRows } from '../docs/documents.ts';
import { bucket } from '../fakes/fresh-bucket.ts';
import { executions } from '../fakes/fresh-executions.ts';
import { lambda } from '../fakes/fresh-first-attempts.ts';
import { secrets } from '../fakes/fresh-secrets.ts';
import { memory } from '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

const { ops } = describeLocalRun({
  BucketName: 'bucket',
  ...Object.fromEntries(
    PROVIDER_IDS.flatMap((id) => [
      [namesOfProvider(id).secretOutput, `arn:${id}-key`],
      [namesOfProvider(id).baseUrlOutput, `https://${id}.example`],
    ]),
  ),
});
const ID = '<id>';
const WEBHOOK = 'https://receiver.example.com/hook';

/** The rows of the guide's table on permissions, the actions of each row with those of the rows that its words include. */
const rows = tableRows(readDocument('docs/operating.md'), 'for', 'actions');
const actionsIn = (cell = ''): string[] => {
  let service = '';
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => {
    if (name.includes(':')) service = name.split(':')[0] ?? '';
    return name.includes(':') ? name : `${service}:${name}`;
  });
};
const rowOf = (start: string): string[] => actionsIn(rows.find(([title]) => title?.startsWith(start))?.[1]);
const READING = rowOf('reading');
const CHANGING = [...READING, ...rowOf('changing')];
const ENDING = [...CHANGING, ...rowOf('`requests fail`')];

interface Sent {
  constructor: { name: string };
  input: { TransactItems?: Record<string, unknown>[] };
}

/** Actions of commands whose names differ from theirs. */
const RENAMED: Readonly<Record<string, string>> = {
  'dynamodb:Get': 'dynamodb:GetItem',
  'dynamodb:Put': 'dynamodb:PutItem',
  'dynamodb:Update': 'dynamodb:UpdateItem',
  'dynamodb:Delete': 'dynamodb:DeleteItem',
  'dynamodb:ConditionCheck': 'dynamodb:ConditionCheckItem',
  'dynamodb:BatchGet': 'dynamodb:BatchGetItem',
  'dynamodb:BatchWrite': 'dynamodb:BatchWriteItem',
  'lambda:Invoke': 'lambda:InvokeFunction',
  's3:ListObjectsV2': 's3:ListBucket',
  's3:DeleteObjects': 's3:DeleteObject',
  's3:HeadObject': 's3:GetObject',
};

/** Every service, as the clients of the commands reach it. */
const CLIENTS = {
  ...{ dynamodb: memory.client, s3: bucket.client, states: executions.client },
  ...{ secretsmanager: secrets.client, lambda },
};

/** Every action that was called. */
const usedActions = (): Set<string> => {
  const calls = Object.entries(CLIENTS).flatMap(([service, client]) =>
    client.calls().flatMap(({ args: [command] }) => {
      const sent = command as unknown as Sent;
      const names = sent.input.TransactItems?.flatMap((item) => Object.keys(item)) ?? [
        sent.constructor.name.replace(/Command$/, ''),
      ];
      return names.map((name) => `${service}:${name}`);
    }),
  );
  return new Set(calls.map((name) => RENAMED[name] ?? name));
};

beforeEach(async () => {
  for (const id of PROVIDER_IDS) secrets.set(`arn:${id}-key`, 'key');
  putAccount(memory, anAccount({ name: 'Northwind' }));
  putEndUser(memory, anEndUser({ activeRequests: 0 }));
  const limits = { requestsPerSecond: 50, burst: 100 };
  await insertApiKey(ACCOUNT_ID, { scopes: [], label: '', limits }, new Date());
});
const outcome: AttemptOutcome = { kind: 'accepted', taskId: 'task' };
const givenOpen = (): void => {
  putRequest(memory, anImageRequest({ status: 'processing', webhookUrl: WEBHOOK }));
  putEndUser(memory, anEndUser({ activeRequests: 1 }));
  memory.put(providerAttemptKey(REQUEST_ID, 0, 0), { ...anAttempt({ outcome }) });
  executions.put('generation', REQUEST_ID, 'RUNNING');
};
const givenEnded = (): void => {
  const error = { code: 'provider_error', message: 'The provider failed.' } as const;
  const ended = { status: 'failed', finishedAt: NOW.toISOString(), error } as const;
  putRequest(memory, anImageRequest({ ...ended, refundThousandths: 8_000, webhookUrl: WEBHOOK }));
  bucket.put(`outputs/${REQUEST_ID}/0.png`);
};

test.each<[string, readonly string[], () => void, string[][]]>([
  [
    'reading',
    READING,
    givenEnded,
    [
      ['requests', 'show', ID],
      ['requests', 'list'],
      ['requests', 'list', '--error', 'provider_error'],
      ['routes', 'list'],
      ['models', 'list'],
      ['accounts', 'list'],
      ['balance', 'history', ACCOUNT_ID],
    ],
  ],
  [
    'changes',
    CHANGING,
    givenEnded,
    [
      ['accounts', 'create', '--name', 'Contoso'],
      ['keys', 'create', 'Northwind'],
      ['balance', 'topup', ACCOUNT_ID, '--amount', '10', '--idempotency-key', 'a'],
      ['end-users', 'block', ACCOUNT_ID, EMAIL],
      ['models', 'disable', 'xQI3Pro'],
      ['rates', 'set', 'xQI3Pro', '--account', ACCOUNT_ID, '--factor', '2'],
      ['routes', 'set-cost', '--help'],
    ],
  ],
  ['`requests fail`', ENDING, givenOpen, [['requests', 'fail', ID, '--note', 'why']]],
  ['`requests retry-webhook`', ENDING, givenEnded, [['requests', 'retry-webhook', ID]]],
  ['`end-users delete`', ENDING, givenEnded, [['end-users', 'delete', ACCOUNT_ID, EMAIL, '--yes']]],
  ['`accounts close`', ENDING, givenEnded, [['accounts', 'close', ACCOUNT_ID, '--yes']]],
])('the guide grants what %s needs', async (name, granted, given, commands) => {
  given();
  for (const client of Object.values(CLIENTS)) client.resetHistory();

  for (const command of commands) {
    const { stderr } = await ops(...command.map((arg) => (arg === ID ? REQUEST_ID : arg)));
    expect(stderr).toBe('');
  }

  const used = usedActions();
  expect([...used].filter((action) => !granted.includes(action))).toEqual([]);
  // A row for the commands by their names, and what the first attempt of the webhook needs.
  if (name.startsWith('`')) expect(rows.map(([title]) => title).join()).toContain(name);
  if (given === givenOpen) {
    expect([...used]).toContain('lambda:InvokeFunction');
    expect(rows.map(([, cell]) => cell).join()).toContain(
      '`lambda:InvokeFunction` on `DeliverWebhookFunctionArn`',
    );
  }
});
