import '../../unit/builders/environment.ts';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MEASURING_SLOTS } from '../../../core/creation/measured-creation.ts';
import { WEBHOOK_SLOTS } from '../../../core/webhooks/deliver-webhook.ts';
import { handler as measureClips } from '../../../functions/media/measure-clips.ts';
import { aVideo } from '../../../packages/media/test/videos.ts';
import { aVideoBody } from '../../unit/builders/bodies.ts';
import { aCaller } from '../../unit/builders/callers.ts';
import { NOW, StoppedClock } from '../../unit/builders/clocks.ts';
import { anImageRequest, putRequest } from '../../unit/builders/entities.ts';
import { withEnvironment } from '../../unit/builders/environment.ts';
import { deliverNext } from '../../unit/builders/next-attempt.ts';
import { aRequestId } from '../../unit/builders/request-ids.ts';
import { stopTime } from '../../unit/builders/stop-time.ts';
import { MemoryFunctions } from '../../unit/fakes/memory-functions.ts';
import { LoopbackServer } from '../../unit/servers/loopback-server.ts';
import { memory, reset, send } from './service.ts';

/** Two accounts of little money, and one that uses the same host. */
const ATTACKERS = ['acc_01JD4KXQ8M0000000000000001', 'acc_01JD4KXQ8M0000000000000002'];
const OTHER = 'acc_01JD4KXQ8M0000000000000003';
const LITTLE = { balanceThousandths: 6_000 };
/** Attempts of each attacker at once, and the number of creations or webhooks of the third account. */
const TRIES = 30;
const WORK = 40;

const functions = new MemoryFunctions();
functions.set(process.env.MEASURE_CLIPS_FUNCTION_ARN ?? '', measureClips);
const clip = await aVideo({ seconds: 1 });
/** The host that all of them name. It never answers on `/silent`, until `release`. */
const host = await new LoopbackServer().start();
let silent: (() => void)[] = [];
const release = () => {
  for (const end of silent.splice(0)) end();
};
afterAll(() => host.close());

beforeEach(() => {
  reset();
  stopTime(NOW);
  functions.reset();
  host.reset();
  silent = [];
  host.respond = ({ path }, response) => {
    if (path === '/silent') silent.push(() => response.writeHead(503).end());
    else response.writeHead(200).end(path === '/clip.mp4' ? clip : undefined);
  };
});

/** Turns of the event loop until all attempts stand; far more than they take. */
const MAX_TURNS = 100_000;
const until = async (isTrue: () => boolean) => {
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    if (isTrue()) return;
    await new Promise(setImmediate);
  }
  throw new Error('The attackers did not get all places.');
};

describe('two accounts that hold a host with all they are allowed', () => {
  test('fail none of 40 creations of a third with clips on that host', async () => {
    await withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, async () => {
      const body = (path: string) =>
        aVideoBody({ resolution: '480p', durationSec: 2, referenceVideos: [`${host.url}${path}`] });
      const held: ReturnType<typeof send>[] = [];
      for (const accountId of ATTACKERS) {
        const { headers } = await aCaller(memory, { account: { accountId, ...LITTLE } });
        for (let attempt = 0; attempt < TRIES; attempt++)
          held.push(send('create-video', { headers, body: body('/silent') }));
      }
      await until(() => silent.length === ATTACKERS.length * MEASURING_SLOTS);

      const { headers } = await aCaller(memory, {
        account: { accountId: OTHER, balanceThousandths: 10_000_000 },
      });
      const statuses: number[] = [];
      for (let attempt = 0; attempt < WORK; attempt++)
        statuses.push((await send('create-video', { headers, body: body('/clip.mp4') })).status);

      expect(silent).toHaveLength(ATTACKERS.length * MEASURING_SLOTS);
      expect(statuses).toEqual(Array(WORK).fill(202));
      release();
      await Promise.all(held);
    });
  });

  test('put off none of 40 webhooks of a third to that host, nor do their back-offs', async () => {
    await withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true', WEBHOOK_RETRY_SECONDS: '5,300' }, async () => {
      const clock = new StoppedClock();
      const deliveryOf = async (accountId: string, path: string) => {
        const requestId = aRequestId(NOW);
        const error = { code: 'content_policy', message: 'Refused.' } as const;
        const end = { status: 'failed', finishedAt: NOW.toISOString(), error } as const;
        putRequest(
          memory,
          anImageRequest({ requestId, accountId, ...end, webhookUrl: `${host.url}${path}` }),
        );
        return deliverNext(memory, { subjectId: requestId }, clock, () => 0);
      };
      for (const accountId of [...ATTACKERS, OTHER])
        await aCaller(memory, { account: { accountId, ...LITTLE } });
      const work = async () => {
        const steps: unknown[] = [];
        for (let delivery = 0; delivery < WORK; delivery++) steps.push(await deliveryOf(OTHER, '/hook'));
        return steps;
      };
      const held = ATTACKERS.flatMap((accountId) =>
        Array.from({ length: TRIES }, () => deliveryOf(accountId, '/silent')),
      );
      await until(() => silent.length === ATTACKERS.length * WEBHOOK_SLOTS.host);

      expect(await work()).toEqual(Array(WORK).fill({ next: 'stop' }));

      clock.advance(15);
      release();
      await Promise.all(held);
      expect(await deliveryOf(ATTACKERS[0] as string, '/hook')).toMatchObject({ next: 'wait' });
      expect(await work()).toEqual(Array(WORK).fill({ next: 'stop' }));
    });
  });
});
