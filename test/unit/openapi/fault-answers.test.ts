/** @jest-environment <rootDir>/test/answers-environment.ts */
import { ApplyGuardrailCommand, BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { ROUTES } from '../../../core/routes.ts';
import { endUserKey, ledgerEntryKey, pauseKey, requestKey } from '../../../core/table/keys.ts';
import { table } from '../../../core/table/table.ts';
import type { CallerEndpoint } from '../../../functions/openapi/operations.ts';
import { answersSeen, checkDeclared } from '../../contract/support/declared-answers.ts';
import { faultAnswers } from '../../contract/support/fault-answers.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { aGenerationBody, aVideoBody } from '../builders/bodies.ts';
import { aCaller } from '../builders/callers.ts';
import { NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  aLedgerEntry,
  anEndUser,
  anImageRequest,
  aStoredOutput,
  aStoredVideo,
  aVideoRequest,
  EMAIL,
  putEndUser,
  putRequest,
  REQUEST_ID,
  VIDEO_ID,
} from '../builders/entities.ts';
import { withEnvironment } from '../builders/environment.ts';
import { loadHandlers, RouteWorld } from '../builders/route-world.ts';
import { tableError } from '../builders/table-errors.ts';
import { bucket } from '../fakes/fresh-bucket.ts';

const world = new RouteWorld();
const { memory } = world;
const handlerOf = await loadHandlers();
const bedrock = mockClient(BedrockRuntimeClient);
const succeeded = { status: 'succeeded', finishedAt: NOW.toISOString(), costThousandths: 4_000 } as const;
let send: jest.Spied<typeof table.send> | undefined;

const reset = (): void => {
  world.reset();
  bucket.reset();
  bedrock.reset();
  const expiresAt = world.inSeconds(3_600);
  putRequest(memory, anImageRequest({ ...succeeded, outputs: [aStoredOutput(0)], expiresAt }));
  putRequest(memory, aVideoRequest({ ...succeeded, outputs: [aStoredVideo()], expiresAt }));
  putEndUser(memory, anEndUser({ activeRequests: 0 }));
  for (const number of [1, 2, 3]) memory.put(ledgerEntryKey(ACCOUNT_ID, number), aLedgerEntry(number));
};
beforeEach(reset);
afterEach(() => send?.mockRestore());

const ofImage = { pathParameters: { requestId: REQUEST_ID } };
const ofEndUser = { pathParameters: { email: EMAIL } };

/** A call of each route that succeeds. */
const CALLS: Record<CallerEndpoint, Parameters<typeof anApiEvent>[0]> = {
  'create-generation': { body: aGenerationBody() },
  'list-generations': {},
  'get-generation': ofImage,
  'delete-generation': ofImage,
  'bulk-delete-generations': { body: { requestIds: [REQUEST_ID] } },
  'create-video': { body: aVideoBody() },
  'create-quote': { body: { kind: 'video', ...aVideoBody() } },
  'list-videos': {},
  'get-video': { pathParameters: { requestId: VIDEO_ID } },
  'create-upload': { body: { contentType: 'image/png', bytes: 10 } },
  'list-models': {},
  'list-end-users': {},
  'block-end-user': ofEndUser,
  'unblock-end-user': ofEndUser,
  'get-end-user-budget': ofEndUser,
  'put-end-user-budget': { ...ofEndUser, body: { perDay: 10 } },
  'delete-end-user': ofEndUser,
  'get-balance': {},
  'list-balance-history': {},
  'get-usage': { query: { from: ['2026-11-01'], to: ['2026-12-01'], by: ['day,model,endUser,key'] } },
};
const NAMES = Object.keys(CALLS) as CallerEndpoint[];

/** Calls a route's handler and holds the answer to the document. `broken` is the number of the call to the table that fails. */
const call = async (
  name: CallerEndpoint,
  broken?: number,
): Promise<{ status: number; tableCalls: number }> => {
  const { headers } = await aCaller(memory);
  const real = table.send.bind(table);
  let tableCalls = 0;
  send = jest.spyOn(table, 'send').mockImplementation(((...given: Parameters<typeof real>) => {
    tableCalls += 1;
    return tableCalls === broken ? Promise.reject(new Error('The table is broken.')) : real(...given);
  }) as typeof table.send);
  const answer = read(await handlerOf(name)(anApiEvent({ headers, ...CALLS[name] }), aLambdaContext()));
  send.mockRestore();
  const { method, path } = ROUTES[name];
  const stringHeaders = Object.entries(answer.headers).map(([key, value]) => [key, String(value)]);
  checkDeclared(method, path.replaceAll(/\{(\w+)\}/g, 'x'), {
    ...{ status: answer.status, body: answer.body },
    headers: new Headers(Object.fromEntries(stringHeaders)),
  });
  return { status: answer.status, tableCalls };
};

describe('whatever call to the table fails, the answer is declared', () => {
  test.each(NAMES)('of %s', async (name) => {
    const { status, tableCalls } = await call(name);
    expect([200, 201, 202]).toContain(status);
    expect(tableCalls).toBeGreaterThan(1);

    const statuses: number[] = [];
    for (let broken = 1; broken <= tableCalls; broken++) {
      reset();
      statuses.push((await call(name, broken)).status);
    }

    expect(statuses[0]).toBe(500);
    // Recoverable faults do not show in the answer; a deletion that stopped halfway asks to be repeated.
    for (const each of statuses) expect([200, 201, 202, 500, 503]).toContain(each);
  });
});

describe('what needs a filter, a pause or half a deletion is declared', () => {
  test.each(['create-generation', 'create-video', 'create-quote'] as const)(
    'of %s, refused by the filter: 422',
    async (name) => {
      const judged = { action: 'GUARDRAIL_INTERVENED', assessments: [] } as never;
      bedrock.on(ApplyGuardrailCommand).resolves(judged);
      const filtered = { GUARDRAIL_ID: 'guardrail', GUARDRAIL_VERSION: '1' };

      expect((await withEnvironment(filtered, () => call(name))).status).toBe(422);
    },
  );

  test.each([
    ['create-generation', 'xQI3Pro'],
    ['create-video', 'xW3.0s'],
    ['create-quote', 'xW3.0s'],
  ] as const)('of %s, paused after a time-out: 503', async (name, model) => {
    memory.put(pauseKey({ accountId: ACCOUNT_ID, email: EMAIL, model }), { until: world.inSeconds(61.5) });

    expect((await call(name)).status).toBe(503);
  });

  test('of create-quote, for an end-user who is being removed: 409', async () => {
    memory.patch(endUserKey(ACCOUNT_ID, EMAIL), { deletingAt: NOW.toISOString() });

    expect((await call('create-quote')).status).toBe(409);
  });

  test('of delete-end-user, while a request of theirs cannot be deleted: 503', async () => {
    memory.beforeTransaction = () => {
      const [item] = memory.transactions.at(-1)?.TransactItems ?? [];
      if (item?.Delete?.Key?.PK === requestKey(REQUEST_ID).PK) throw tableError('TimeoutError');
    };

    expect((await call('delete-end-user')).status).toBe(503);
  });

  test('of put-end-user-budget, while the end-user creates all the time: 503', async () => {
    memory.beforeTransaction = (attempt) =>
      memory.patch(endUserKey(ACCOUNT_ID, EMAIL), { totalRequests: 100 + attempt });

    expect((await call('put-end-user-budget')).status).toBe(503);
  });
});

test('so every declared answer that no call over HTTP shows was seen here', () => {
  const seen = answersSeen();

  expect(faultAnswers()).toHaveLength(29);
  expect(faultAnswers().filter((answer) => !seen.has(answer))).toEqual([]);
});
