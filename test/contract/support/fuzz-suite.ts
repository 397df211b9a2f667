import assert from 'node:assert/strict';
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type AnyRecord, type Caller, eventually, newCaller, send, sharedService, unique } from './client.ts';
import { type FuzzedRequest, fuzzedRequests, type Known } from './fuzz.ts';
import { entriesOf, expectUnbrokenChain, history } from './ledger.ts';
import { failed, type ListPage, uniqueEmail } from './resources.ts';
import { ROUTES } from './routes.ts';
import { finishedVideo, readVideo, settledVideo, upstreamTask, type VideoRecord } from './videos.ts';

/** How many requests are sent at once. */
const TOGETHER = 5;
/** Far more than it takes, even while other tests keep the machine busy. */
const PATIENCE_MS = 180_000;

/**
 * Tests that no answer breaks the contract, over this many rounds of several requests at once. Each of the usual statuses,
 * and an accepted video, must occur more than `timesEach` times.
 */
export const testFuzzed = (rounds: number, timesEach: number): void => {
  let caller: Caller;
  let known: Known;
  /** A video that has ended and still gets callbacks. */
  let ended: VideoRecord;
  const statuses = new Map<number, number>();
  const acceptedVideos: string[] = [];
  beforeAll(async () => {
    caller = await newCaller(await sharedService(), 100_000);
    const emails = [uniqueEmail(), uniqueEmail(), uniqueEmail('zoë+fuzz')];
    const records = await Promise.all(emails.map((endUserEmail) => failed(caller, { endUserEmail })));
    ended = await finishedVideo(caller, { prompt: unique('[delay=0][empty]'), endUserEmail: uniqueEmail() });
    const { callbackUrl = '' } = await upstreamTask(caller, ended);
    const callbackPaths = [new URL(callbackUrl).pathname];
    known = { key: caller.key, emails, requestIds: records.map(({ requestId }) => requestId), callbackPaths };
  });

  /** Sends a request; `send` checks the shape of the answer, its headers, and that code and status agree. */
  const check = async ({ method, path, headers, body }: FuzzedRequest): Promise<void> => {
    const { status, body: answer } = await send<Partial<AnyRecord>>(caller.service, method, path, {
      headers,
      ...(body === undefined ? {} : { body }),
    });
    if (status === 202 && answer.requestId?.startsWith('vid_')) acceptedVideos.push(answer.requestId);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    assert.ok(status < 500 || status === 503, `${status}: ${JSON.stringify(answer)}`);
  };

  describe('For any request', () => {
    test(
      'no answer is a 500, and each has the shape and the headers of the contract',
      async () => {
        const requests = fc.array(fuzzedRequests(known), { minLength: TOGETHER, maxLength: TOGETHER });

        // A failure is reported with the seed and path that reproduce it.
        await fc.assert(
          fc.asyncProperty(requests, async (batch) => {
            await Promise.all(batch.map(check));
          }),
          { numRuns: rounds },
        );

        const total = [...statuses.values()].reduce((sum, count) => sum + count, 0);
        expect(total).toBeGreaterThanOrEqual(rounds * TOGETHER);
        // The rounds include both accepted and refused requests.
        for (const status of [200, 202, 400, 401, 404]) {
          expect(statuses.get(status) ?? 0).toBeGreaterThan(timesEach);
        }
        expect(ROUTES.length).toBeLessThan(total);
      },
      PATIENCE_MS,
    );

    test('the balance matches the ledger, and accepted requests have ended', async () => {
      const unfinished = async () => {
        const lists = ['queued', 'processing'].map((status) =>
          caller.get<ListPage<AnyRecord>>(`/v1/generations?pageSize=50&status=${status}`),
        );
        return (await Promise.all(lists)).flatMap(({ body }) => body.items);
      };
      await eventually(unfinished, (items) => items.length === 0);
      expect(acceptedVideos.length).toBeGreaterThan(timesEach);
      // A deleted request had ended before.
      await Promise.all([...new Set(acceptedVideos)].map((requestId) => settledVideo(caller, requestId)));

      await expectUnbrokenChain(caller);
      const debits = (await history(caller)).filter(({ reason }) => reason === 'generation');
      expect(debits.length).toBeGreaterThanOrEqual(3);
      expect(new Set(debits.map(({ reference }) => reference)).size).toBe(debits.length);
    });

    test('a video that had ended before is unchanged', async () => {
      expect(await readVideo(caller, ended.requestId)).toEqual(ended);
      expect((await entriesOf(caller, ended.requestId)).map(([reason]) => reason)).toEqual([
        ...['refund', 'generation'],
      ]);
    });
  });
};
