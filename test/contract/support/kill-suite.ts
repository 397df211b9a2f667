import { once } from 'node:events';
import { armFault } from '@generation-service/local-aws/faults';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WebhookReceiver } from '../../unit/fakes/webhook-receiver.ts';
import type { Answer } from './answers.ts';
import { itemsNaming } from './aws.ts';
import { type AnyRecord, type Caller, callerWith, eventually, newCaller, settled } from './client.ts';
import { fetchFile } from './files.ts';
import { aPicture, companions, type KillPoint, type Wish } from './kill-points.ts';
import { balance, type Entry, expectUnbrokenChain, history } from './ledger.ts';
import { discard, newDataDir, ops, type RunningService, startLocalService } from './local-service.ts';
import { type SandboxProcess, startSandboxProcess } from './sandbox.ts';
import { type StoredRequest, storedKeys, storedRequests } from './stored.ts';
import { findUpstreamTask } from './videos.ts';

/** A start takes seconds on a quiet machine, and many more on a busy one. */
const PATIENCE_MS = 180_000;
/** What each account begins with, in xTokens: what the local run gives its first one. */
const TOPPED_UP = 1000;
/** A lost creation is found 30 s after it, a dead call 20 s after it, silence sooner. */
const QUIET_WITHIN_SECONDS = 90;

/**
 * Tests that the service recovers when it is killed at each of these points, one after the other. One of them must let
 * files expire.
 */
export const testKills = (points: readonly KillPoint[]): void => {
  let sandbox: SandboxProcess;
  let receiver: WebhookReceiver;
  let dataDir: string;
  let service: RunningService;
  let callers: Record<Wish['account'], Caller>;

  const start = async (context: Record<string, number> = {}): Promise<void> => {
    service = await startLocalService(dataDir, {
      context: {
        ...sandbox.context,
        ...{ pollIntervalSeconds: 1, reconcileIntervalSeconds: 2, callbackWaitSeconds: 2 },
        ...context,
      },
    });
    // The same keys, where the service is now.
    const known = callers ?? {
      shared: callerWith(service, service.accountId, service.apiKey),
      alone: await newCaller(service, TOPPED_UP),
    };
    const again = ({ accountId, key }: Caller) => callerWith(service, accountId, key);
    callers = { shared: again(known.shared), alone: again(known.alone) };
  };

  type Accepted = Answer<AnyRecord>;
  /** A record of either kind. */
  interface Ended extends Omit<AnyRecord, 'images'> {
    images?: Item[];
    videos?: Item[];
  }
  type Item = { url?: string; error?: { code: string } };
  const itemsOf = ({ images = [], videos = [] }: Ended): Item[] => [...images, ...videos];

  /** The answers to the wishes that were heard. */
  const heard = new Map<Wish, Accepted>();
  const unheard = new Set<Wish>();

  /** Asks for a wish, under its key. An answer that is lost on the way leaves it to be asked for again. */
  const ask = async (wish: Wish): Promise<void> => {
    const { path, body, idempotencyKey, account } = wish;
    unheard.add(wish);
    const asked = { ...body, webhookUrl: receiver.url };
    let answer: Accepted;
    try {
      answer = await callers[account].post<AnyRecord>(path, asked, { 'idempotency-key': idempotencyKey });
    } catch (error) {
      // What fetch says of a connection that ended without an answer.
      if ((error as Error).name !== 'TypeError') throw error;
      return;
    }
    expect(answer).toMatchObject({ status: 202 });
    unheard.delete(wish);
    heard.set(wish, answer);
  };

  /** Whether the files of a request should be gone by now and are not known to be. */
  const isDue = ({ expiresAt, expiredAt }: StoredRequest): boolean =>
    expiresAt !== undefined && expiresAt <= new Date().toISOString() && expiredAt === undefined;
  /** What is left to be done: requests and what follows their end, then files to be removed. */
  const openWork = async (): Promise<string[]> => [
    ...(await itemsNaming(service, 'OPEN_WORK#')),
    ...(await storedRequests(service)).filter(isDue).map(({ requestId }) => requestId),
  ];

  const answerTo = (wish: Wish): Accepted => {
    const answer = heard.get(wish);
    if (!answer) throw new Error('This wish was not answered.');
    return answer;
  };

  /** What was made before the first kill, as it was then. */
  const earlier = aPicture();
  let before: { record: AnyRecord; bytes: Buffer };

  beforeAll(async () => {
    sandbox = await startSandboxProcess();
    receiver = await new WebhookReceiver().start();
    dataDir = await newDataDir();
    await start(points[0]?.context);
    await ask(earlier);
    const record = await settled(callers.alone, answerTo(earlier).body.requestId);
    before = { record, bytes: (await fetchFile(record.images?.[0]?.url)).bytes };
  }, PATIENCE_MS);
  afterAll(async () => {
    await discard(service);
    await Promise.all([receiver.close(), sandbox.stop()]);
  });

  describe('The whole service can be killed, and goes on when it is started on the same data,', () => {
    test.each(points.map((point, index) => ({ ...point, next: points[index + 1] })))(
      '$when',
      async ({ wish, fault, acceptedUnheard, next }) => {
        const killed = once(service.process, 'exit');
        await armFault(service, fault);
        await Promise.all([wish, ...companions()].map(ask));
        expect(await killed).toEqual([null, 'SIGKILL']);
        if (acceptedUnheard !== undefined) expect(unheard).toContain(wish);

        await start(next?.context);
        await Promise.all([...unheard].map(ask));
        expect(unheard.size).toBe(0);
      },
      PATIENCE_MS,
    );
  });

  /** What became of a request: why it failed, or of each of its outputs whether it is there. */
  const outcomeOf = (record: Ended): string => {
    if (record.error) return `${record.error.code}: ${record.error.message}`;
    if (record.status === 'expired') return 'expired';
    return itemsOf(record)
      .map(({ error }) => error?.code ?? 'made')
      .join(' and ');
  };

  const OUTCOME: Record<Wish['ending'], RegExp> = {
    whole: /^(made|expired)$/,
    half: /^(made and storage_failed|expired)$/,
    refused: /^content_policy: /,
  };
  /** A call that was made, or may have been, by a process that is dead: never made again, and never paid. */
  const LOST_CALL = /^provider_error: The outcome of the call to the upstream provider is not known\.$/;

  describe('In the end', () => {
    /** What each wish came to, as its caller reads it. */
    const records = new Map<Wish, Ended>();
    let entries: Entry[];

    beforeAll(async () => {
      // Nobody reads them before they are over: a read would ask the provider.
      await eventually(openWork, (open) => open.length === 0, QUIET_WITHIN_SECONDS);
      for (const [wish, { body }] of heard) {
        const read = await callers[wish.account].get<Ended>(`${wish.path}/${body.requestId}`);
        records.set(wish, read.body);
      }
      entries = [...(await history(callers.alone)), ...(await history(callers.shared))];
    }, PATIENCE_MS);

    const recordOf = (wish: Wish): Ended => {
      const record = records.get(wish);
      if (!record) throw new Error('This wish has no record.');
      return record;
    };
    const amountsOf = (requestId: string): [string, number][] =>
      entries
        .filter(({ reference }) => reference === requestId)
        .map(({ reason, amount }) => [reason, amount]);

    test('every wish was accepted once, whether or not its caller heard of it', async () => {
      for (const { wish, acceptedUnheard } of points) {
        if (acceptedUnheard === undefined) continue;
        expect(answerTo(wish).headers.get('idempotency-replayed')).toBe(acceptedUnheard ? 'true' : null);
      }
      const ids = [...heard.values()].map(({ body }) => body.requestId).sort();
      expect(ids).toHaveLength(1 + points.length * (1 + companions().length));
      expect((await storedRequests(service)).map(({ requestId }) => requestId).sort()).toEqual(ids);
    });

    test('every request has ended as it was wished for, or failed as its call to the provider was lost', () => {
      for (const [wish, record] of records) {
        expect(record.error ? ['failed'] : ['succeeded', 'expired']).toContain(record.status);
        const outcome = outcomeOf(record);
        if (!LOST_CALL.test(outcome)) expect(outcome).toMatch(OUTCOME[wish.ending]);
      }
      for (const { wish } of points.filter(({ madeByThen }) => madeByThen)) {
        expect(outcomeOf(recordOf(wish))).toMatch(OUTCOME[wish.ending]);
      }
    });

    test('no provider was given the same task twice', async () => {
      for (const { body } of records.keys()) {
        // Throws where there are two.
        await findUpstreamTask(sandbox, { prompt: String(body.prompt) });
      }
    });

    test('each was paid once, and given back once what it did not deliver', async () => {
      const spent = { alone: 0, shared: 0 };
      for (const [wish, { requestId, status, error, cost }] of records) {
        const [price = 0] = amountsOf(requestId).flatMap(([reason, amount]) =>
          reason === 'generation' ? amount : [],
        );
        const back = error ? price : wish.ending === 'half' ? price / 2 : 0;
        expect(amountsOf(requestId)).toEqual([
          ...(back > 0 ? [['refund', back]] : []),
          ['generation', price],
        ]);
        expect(cost).toBe(status === 'succeeded' ? price - back : undefined);
        spent[wish.account] += price - back;
      }
      for (const account of ['alone', 'shared'] as const) {
        expect(await balance(callers[account])).toBeCloseTo(TOPPED_UP - spent[account], 3);
        await expectUnbrokenChain(callers[account]);
      }
    });

    test('what was there before reads as before, under the same key, its file the same', async () => {
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

    test('there is a file for each output that was made and has not expired, and no other', async () => {
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

    test('every end was told to its webhook', async () => {
      const told = () =>
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
        async () => told().size,
        (size) => size >= ends.length,
      );

      expect([...told()].sort()).toEqual(ends.sort());
    });
  });
};
