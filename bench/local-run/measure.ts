import { setTimeout as sleep } from 'node:timers/promises';
import { armFault, disarmFaults } from '@generation-service/local-aws/faults';
import { WebhookReceiver } from '../../test/unit/servers/webhook-receiver.ts';
import { isQuick, logProgress } from '../publish.ts';
import { type Part, type Result, resultOf } from '../results.ts';
import { expectCall, percentile, perSecond } from './calls.ts';
import { withServerlessOffline } from './serverless-offline.ts';
import { type Service, startService } from './service.ts';

const CALLERS = 10;
const READ_MS = isQuick ? 1_000 : 5_000;
const CREATE_MS = isQuick ? 2_000 : 12_000;
/** Rounds that are not counted, in which threads start and code is compiled. */
const WARM_UP = isQuick ? 0 : 2;
/** A memory at rest is that of a run nobody has used since its start. */
const REST_MS = isQuick ? 0 : 5_000;
const DELAY_MS = 5;
const OFFERED_PER_SECOND = 20;
const OFFERED = isQuick ? 20 : 200;
/** Requests whose provider works while others' callbacks arrive. */
const IN_FLIGHT = isQuick ? [1, 5] : [1, 100, 1_000];
const CALLBACKS = isQuick ? 2 : 12;
const READ_EVERY_MS = 10;
const LIMIT_MS = 120_000;

const VIDEO = { model: 'xW3.0sPro', resolution: '1080p', durationSec: 2, endUserEmail: 'ada@example.com' };
const imageOf = (caller: number) => ({
  model: 'xSD5Pro',
  prompt: 'a lighthouse',
  endUserEmail: `user-${caller}@example.com`,
});

/** Speed, latencies and memory of the local run, in a process of its own. */
export const measureLocalRun = async (): Promise<Part> => {
  const constants = await withServerlessOffline(async (url) => {
    for (let round = 0; round < WARM_UP; round++) await readsPerSecond(url);
    return readsPerSecond(url);
  });
  const service = await startService();
  try {
    await sleep(REST_MS);
    const atRest = service.megabytes();
    const keys = await Promise.all(
      Array.from({ length: CALLERS }, (_, caller) => service.newCaller(`caller-${caller}`)),
    );
    const speed = await measureSpeed(service, keys, constants);
    const memory = [
      resultOf('local run: memory at rest', atRest / 1_024, 'GB', { budget: 0.25, baseline: 0.3 }),
      resultOf('local run: memory with 10 callers', service.megabytes() / 1_024, 'GB', {
        budget: 0.7,
        baseline: 3,
      }),
    ];
    const answers = await measureAnswers(service, keys);
    const callbacks = await measureCallbacks(service, keys);
    return { title: 'The local run', note: NOTE, results: [...speed, ...memory, ...answers, ...callbacks] };
  } finally {
    await service.close();
  }
};

const NOTE = `Of a run in a process of its own, as \`npm start\` makes it, beside callers in another, all on the same processors. Of *before*, "creations" are 11 to 18/s, and memory with 10 callers 1.1 to
3.0 GB. A read is \`GET /v1/balance\`, against a function behind [serverless-offline](https://www.npmjs.com/package/serverless-offline) 13 that answers a constant; without network for its packages the
ratio is left out. Each of the 10 callers creates images for an account of its own, one after another; the flow behind them has ended when the clock stops. Callbacks are timed from their arrival, in turn, while the providers
of so many other videos work; the video is read every ${READ_EVERY_MS} ms.`;

const readsPerSecond = (url: string, keys: readonly string[] = []): Promise<number> =>
  perSecond(CALLERS, READ_MS, (caller) => expectCall(200, url, keys[caller] ?? ''));

const measureSpeed = async (
  { baseUrl, openExecutions }: Service,
  keys: readonly string[],
  constants: number | undefined,
): Promise<Result[]> => {
  const readUrl = `${baseUrl}/v1/balance`;
  for (let round = 0; round < WARM_UP; round++) await readsPerSecond(readUrl, keys);
  const reads = await readsPerSecond(readUrl, keys);
  logProgress(`reads: ${reads.toFixed(0)} a second; serverless-offline: ${constants?.toFixed(0) ?? '-'}`);

  const create = async (): Promise<number> => {
    const startedAt = performance.now();
    const accepted = await perSecond(CALLERS, CREATE_MS, (caller) =>
      expectCall(202, `${baseUrl}/v1/generations`, keys[caller] ?? '', imageOf(caller)),
    );
    const acceptedMs = performance.now() - startedAt;
    while ((await openExecutions()) > 0) await sleep(50);
    return (accepted * acceptedMs) / (performance.now() - startedAt);
  };
  if (!isQuick) await create();
  const creations = await create();
  logProgress(`creations: ${creations.toFixed(1)} a second`);
  return [
    ...(constants === undefined
      ? []
      : [
          resultOf('local run: reads, against serverless-offline', reads / constants, '×', {
            budget: 0.5,
            baseline: 0.1,
            atLeast: true,
          }),
        ]),
    resultOf('local run: reads', reads, '/s'),
    resultOf('local run: creations with their whole flow', creations, '/s', {
      budget: 60,
      baseline: 18,
      atLeast: true,
    }),
  ];
};

const measureAnswers = async (service: Service, keys: readonly string[]): Promise<Result[]> => {
  await armFault(service, { call: '*', delayMilliseconds: DELAY_MS, times: Number.MAX_SAFE_INTEGER });
  const sent: Promise<number>[] = [];
  for (let index = 0; index < OFFERED; index++) {
    const key = keys[index % keys.length] ?? '';
    const answer = expectCall(202, `${service.baseUrl}/v1/generations`, key, imageOf(index % CALLERS));
    sent.push(answer.then(({ milliseconds }) => milliseconds));
    await sleep(1_000 / OFFERED_PER_SECOND);
  }
  const milliseconds = await Promise.all(sent);
  await disarmFaults(service);
  while ((await service.openExecutions()) > 0) await sleep(50);
  const name = `202 with ${DELAY_MS} ms added to every call, ${OFFERED_PER_SECOND}/s`;
  logProgress(`${name}: p50 ${percentile(milliseconds, 0.5).toFixed(0)} ms`);
  return [
    resultOf(`${name}: p50`, percentile(milliseconds, 0.5), 'ms', { budget: 60 }),
    resultOf(`${name}: p99`, percentile(milliseconds, 0.99), 'ms', { budget: 250 }),
  ];
};

/** Milliseconds from a callback to what follows it. */
interface AfterCallback {
  visible: number;
  webhook: number;
}

const measureCallbacks = async (service: Service, keys: readonly string[]): Promise<Result[]> => {
  const receiver = await new WebhookReceiver().start();
  try {
    await afterCallback(service, receiver, keys[0] ?? '');
    const medians: (AfterCallback & { count: number })[] = [];
    let parked = 0;
    for (const count of IN_FLIGHT) {
      await park(service, keys, count - 1 - parked);
      parked = count - 1;
      const after: AfterCallback[] = [];
      for (let index = 0; index < CALLBACKS; index++)
        after.push(await afterCallback(service, receiver, keys[0] ?? ''));
      const median = (name: keyof AfterCallback) =>
        percentile(
          after.map((one) => one[name]),
          0.5,
        );
      medians.push({ count, visible: median('visible'), webhook: median('webhook') });
      logProgress(`callbacks with ${count} in flight: ${median('visible').toFixed(0)} ms`);
    }
    const [first, second] = medians;
    return [
      ...medians.flatMap(({ count, visible, webhook }) => [
        resultOf(`callback to \`succeeded\` visible, ${count} in flight: p50`, visible, 'ms'),
        resultOf(`callback to webhook sent, ${count} in flight: p50`, webhook, 'ms'),
      ]),
      ...(['visible', 'webhook'] as const).map((name) =>
        resultOf(
          `callback to ${name}, ${second?.count} in flight against ${first?.count}`,
          (second?.[name] ?? Number.NaN) / (first?.[name] ?? Number.NaN),
          '×',
          { budget: 1.5 },
        ),
      ),
    ];
  } finally {
    await receiver.close();
  }
};

/** Creates videos whose provider works for longer than the bench. */
const park = async ({ baseUrl }: Service, keys: readonly string[], count: number): Promise<void> => {
  let left = count;
  await Promise.all(
    keys.map(async (key, caller) => {
      while (left-- > 0) {
        const email = `user-${caller}@example.com`;
        const body = { ...VIDEO, prompt: '[delay=3000][callback=off]', endUserEmail: email };
        await expectCall(202, `${baseUrl}/v1/videos`, key, body);
      }
    }),
  );
};

const afterCallback = async (
  { baseUrl, callbacks }: Service,
  receiver: WebhookReceiver,
  key: string,
): Promise<AfterCallback> => {
  callbacks.clear();
  receiver.received.length = 0;
  let webhookAt: number | undefined;
  receiver.respond = (_webhook, response) => {
    webhookAt ??= performance.now();
    response.writeHead(204).end();
  };
  const { body } = await expectCall(202, `${baseUrl}/v1/videos`, key, {
    ...VIDEO,
    prompt: '[delay=1]',
    webhookUrl: receiver.url,
  });
  const giveUpAt = performance.now() + LIMIT_MS;
  const until = async (isTrue: () => boolean | Promise<boolean>) => {
    while (!(await isTrue())) {
      if (performance.now() > giveUpAt) throw new Error(`No end of ${body.requestId} after its callback.`);
      await sleep(READ_EVERY_MS);
    }
  };
  await until(() => callbacks.size > 0);
  const calledAt = Math.min(...callbacks.values());
  const read = () => expectCall(200, `${baseUrl}/v1/videos/${body.requestId}`, key);
  await until(async () => (await read()).body.status === 'succeeded');
  const visibleAt = performance.now();
  await until(() => webhookAt !== undefined);
  return { visible: visibleAt - calledAt, webhook: (webhookAt ?? Number.NaN) - calledAt };
};
