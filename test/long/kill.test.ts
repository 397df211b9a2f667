import { once } from 'node:events';
import { armFault } from '@generation-service/local-aws/faults';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Answer } from '../contract/support/answers.ts';
import { itemsNaming } from '../contract/support/aws.ts';
import {
  type AnyRecord,
  type Caller,
  callerWith,
  eventually,
  newCaller,
  settled,
} from '../contract/support/client.ts';
import { fetchFile } from '../contract/support/files.ts';
import { balance, type Entry, expectUnbrokenChain, history } from '../contract/support/ledger.ts';
import {
  discard,
  newDataDir,
  ops,
  type RunningService,
  startLocalService,
} from '../contract/support/local-service.ts';
import { type SandboxProcess, startSandboxProcess } from '../contract/support/sandbox.ts';
import { type StoredRequest, storedKeys, storedRequests } from '../contract/support/stored.ts';
import { findUpstreamTask } from '../contract/support/videos.ts';
import { WebhookReceiver } from '../unit/servers/webhook-receiver.ts';
import { aPicture, companions, KILL_POINTS, type Scenario } from './kill-points.ts';

/** A start takes seconds on a quiet machine, and far longer on a busy one. */
const PATIENCE_MS = 300_000;
/** The first balance of each account in xTokens: what a local run gives its first account. */
const TOPPED_UP = 1000;
/** A lost creation is found after 60 s, a dead call after 20 s; a check that was killed is repeated after 45 s. */
const QUIET_WITHIN_SECONDS = 240;

let sandbox: SandboxProcess;
let receiver: WebhookReceiver;
let dataDir: string;
let service: RunningService;
let callers: Record<Scenario['account'], Caller>;

const start = async (context: Record<string, number> = {}): Promise<void> => {
  service = await startLocalService(dataDir, {
    context: {
      ...sandbox.context,
      ...{ pollIntervalSeconds: 1, reconcileIntervalSeconds: 2, callbackWaitSeconds: 2 },
      ...context,
    },
  });
  // The same keys, at the service's new address.
  const known = callers ?? {
    shared: callerWith(service, service.accountId, service.apiKey),
    alone: await newCaller(service, TOPPED_UP),
  };
  const moved = ({ accountId, key }: Caller) => callerWith(service, accountId, key);
  callers = { shared: moved(known.shared), alone: moved(known.alone) };
};

type Accepted = Answer<AnyRecord>;
/** The record of an image or video request. */
interface Ended extends Omit<AnyRecord, 'images'> {
  images?: Item[];
  videos?: Item[];
}
type Item = { url?: string; error?: { code: string } };
const itemsOf = ({ images = [], videos = [] }: Ended): Item[] => [...images, ...videos];

/** The answers received. */
const answers = new Map<Scenario, Accepted>();
const unanswered = new Set<Scenario>();

/** Sends a creation under its idempotency key. If its answer is lost, it stays in `unanswered`. */
const create = async (scenario: Scenario): Promise<void> => {
  const { path, body, idempotencyKey, account } = scenario;
  unanswered.add(scenario);
  const withWebhook = { ...body, webhookUrl: receiver.url };
  let answer: Accepted;
  try {
    answer = await callers[account].post<AnyRecord>(path, withWebhook, {
      'idempotency-key': idempotencyKey,
    });
  } catch (error) {
    // `fetch` throws a TypeError when the connection ends without an answer.
    if ((error as Error).name !== 'TypeError') throw error;
    return;
  }
  expect(answer).toMatchObject({ status: 202 });
  unanswered.delete(scenario);
  answers.set(scenario, answer);
};

/** Whether the files of a request should have expired but are not recorded as removed. */
const isDue = ({ expiresAt, expiredAt }: StoredRequest): boolean =>
  expiresAt !== undefined && expiresAt <= new Date().toISOString() && expiredAt === undefined;
/** Work left: open work of unfinished and ended requests, then files to remove. */
const openWork = async (): Promise<string[]> => [
  ...(await itemsNaming(service, 'DUE#START#')),
  ...(await itemsNaming(service, 'DUE#CHECK#')),
  ...(await storedRequests(service)).filter(isDue).map(({ requestId }) => requestId),
];

const answerTo = (scenario: Scenario): Accepted => {
  const answer = answers.get(scenario);
  if (!answer) throw new Error('This creation was not answered.');
  return answer;
};

/** A request created before the first kill, and its record and file at that time. */
const earlier = aPicture();
let before: { record: AnyRecord; bytes: Buffer };

beforeAll(async () => {
  sandbox = await startSandboxProcess();
  receiver = await new WebhookReceiver().start();
  dataDir = await newDataDir();
  await start(KILL_POINTS[0]?.context);
  await create(earlier);
  const record = await settled(callers.alone, answerTo(earlier).body.requestId);
  before = { record, bytes: (await fetchFile(record.images?.[0]?.url)).bytes };
}, PATIENCE_MS);
afterAll(async () => {
  await discard(service);
  await Promise.all([receiver.close(), sandbox.stop()]);
});

describe('The service can be killed and continues when restarted on the same data,', () => {
  test.each(KILL_POINTS.map((point, index) => ({ ...point, next: KILL_POINTS[index + 1] })))(
    '$when',
    async ({ scenario, fault, acceptedUnanswered, next }) => {
      const killed = once(service.process, 'exit');
      await armFault(service, fault);
      await Promise.all([scenario, ...companions()].map(create));
      expect(await killed).toEqual([null, 'SIGKILL']);
      if (acceptedUnanswered !== undefined) expect(unanswered).toContain(scenario);

      await start(next?.context);
      await Promise.all([...unanswered].map(create));
      expect(unanswered.size).toBe(0);
    },
    PATIENCE_MS,
  );
});

/** The outcome of a request: why it failed, or the outcome of each output. */
const outcomeOf = (record: Ended): string => {
  if (record.error) return `${record.error.code}: ${record.error.message}`;
  if (record.status === 'expired') return 'expired';
  return itemsOf(record)
    .map(({ error }) => error?.code ?? 'made')
    .join(' and ');
};

const OUTCOME: Record<Scenario['ending'], RegExp> = {
  whole: /^(made|expired)$/,
  half: /^(made and storage_failed|expired)$/,
  refused: /^content_policy: /,
};
/** A call that a killed process made or may have made: never repeated, and never charged. */
const LOST_CALL = /^provider_error: The outcome of the call to the upstream provider is not known\.$/;

describe('After all kills', () => {
  /** The record of each request, as its caller reads it. */
  const records = new Map<Scenario, Ended>();
  let entries: Entry[];

  beforeAll(async () => {
    // Nothing reads them before they end: a read would query the provider.
    await eventually(openWork, (open) => open.length === 0, QUIET_WITHIN_SECONDS);
    for (const [scenario, { body }] of answers) {
      const read = await callers[scenario.account].get<Ended>(`${scenario.path}/${body.requestId}`);
      records.set(scenario, read.body);
    }
    entries = [...(await history(callers.alone)), ...(await history(callers.shared))];
  }, PATIENCE_MS);

  const recordOf = (scenario: Scenario): Ended => {
    const record = records.get(scenario);
    if (!record) throw new Error('This creation has no record.');
    return record;
  };
  const amountsOf = (requestId: string): [string, number][] =>
    entries.filter(({ reference }) => reference === requestId).map(({ reason, amount }) => [reason, amount]);

  test('every creation was accepted once, even if its answer was lost', async () => {
    for (const { scenario, acceptedUnanswered } of KILL_POINTS) {
      if (acceptedUnanswered === undefined) continue;
      expect(answerTo(scenario).headers.get('idempotency-replayed')).toBe(acceptedUnanswered ? 'true' : null);
    }
    const ids = [...answers.values()].map(({ body }) => body.requestId).sort();
    expect(ids).toHaveLength(1 + KILL_POINTS.length * (1 + companions().length));
    expect((await storedRequests(service)).map(({ requestId }) => requestId).sort()).toEqual(ids);
  });

  test('every request has ended as expected, or failed because its provider call was lost', () => {
    for (const [scenario, record] of records) {
      expect(record.error ? ['failed'] : ['succeeded', 'expired']).toContain(record.status);
      const outcome = outcomeOf(record);
      if (!LOST_CALL.test(outcome)) expect(outcome).toMatch(OUTCOME[scenario.ending]);
    }
    for (const { scenario } of KILL_POINTS.filter(({ outputsStored }) => outputsStored)) {
      expect(outcomeOf(recordOf(scenario))).toMatch(OUTCOME[scenario.ending]);
    }
  });

  test('no provider was given the same task twice', async () => {
    for (const { body } of records.keys()) {
      // Throws if there are two.
      await findUpstreamTask(sandbox, { prompt: String(body.prompt) });
    }
  });

  test('each was paid once, and refunded once for what it did not deliver', async () => {
    const spent = { alone: 0, shared: 0 };
    for (const [scenario, { requestId, status, error, cost }] of records) {
      const [price = 0] = amountsOf(requestId).flatMap(([reason, amount]) =>
        reason === 'generation' ? amount : [],
      );
      const refund = error ? price : scenario.ending === 'half' ? price / 2 : 0;
      expect(amountsOf(requestId)).toEqual([
        ...(refund > 0 ? [['refund', refund]] : []),
        ['generation', price],
      ]);
      expect(cost).toBe(status === 'succeeded' ? price - refund : undefined);
      spent[scenario.account] += price - refund;
    }
    for (const account of ['alone', 'shared'] as const) {
      expect(await balance(callers[account])).toBeCloseTo(TOPPED_UP - spent[account], 3);
      await expectUnbrokenChain(callers[account]);
    }
  });

  test('an earlier request reads as before with the same key, and its file is unchanged', async () => {
    const { images: [{ url, ...image } = {}] = [], ...rest } = recordOf(earlier);
    const { images: [imageBefore] = [], ...restBefore } = before.record;
    const file = await fetchFile(url);

    const { key, accountId } = callers.shared;
    expect([service.apiKey, service.accountId]).toEqual([key, accountId]);
    expect(rest).toEqual(restBefore);
    expect({ ...image, url: expect.any(String) }).toEqual({ ...imageBefore, url: expect.any(String) });
    expect(file.bytes.equals(before.bytes)).toBe(true);
  });

  test('ledger verify finds no problem', async () => {
    const { problems, accounts } = await ops<{ problems: unknown[]; accounts: number }>(
      service,
      'ledger',
      'verify',
    );

    expect(problems).toEqual([]);
    expect(accounts).toBe(2);
  });

  test('each output that was stored and has not expired has a file, and there are no others', async () => {
    const lasting = (await storedRequests(service)).filter(
      ({ status, expiredAt }) => status === 'succeeded' && expiredAt === undefined,
    );
    const keys = lasting.flatMap(({ outputs = [] }) => outputs.flatMap(({ objectKey }) => objectKey ?? []));
    expect(await storedKeys(service)).toEqual(keys.sort());

    const urls = [...records.values()].flatMap(itemsOf).flatMap(({ url }) => url ?? []);
    expect(urls).toHaveLength(keys.length);
    for (const url of urls) expect((await fetchFile(url)).status).toBe(200);
    expect([...records.values()].map(({ status }) => status)).toContain('expired');
  });

  test('every end was delivered to its webhook', async () => {
    const delivered = () =>
      new Set(
        receiver.received
          .map(({ body }) => JSON.parse(body))
          .map(({ type, data }) => `${type} ${data.requestId}`),
      );
    const ends = [...records.values()].map(
      ({ requestId, error }) =>
        `${requestId.startsWith('vid_') ? 'video' : 'generation'}.${error ? 'failed' : 'succeeded'} ${requestId}`,
    );

    await eventually(
      async () => delivered().size,
      (size) => size >= ends.length,
    );

    expect([...delivered()].sort()).toEqual(ends.sort());
  });
});
