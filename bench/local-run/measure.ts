import { setTimeout as sleep } from 'node:timers/promises';
import { armFault, disarmFaults } from '@generation-service/local-aws/faults';
import { isQuick, logProgress } from '../publish.ts';
import { type Part, type Result, resultOf } from '../results.ts';
import { percentile } from '../waiting/rules.ts';
import { expectCall, perSecond } from './calls.ts';
import { type Service, startBareServer, startService } from './service.ts';

const CALLERS = 10;
const READ_MS = isQuick ? 1_000 : 5_000;
const CREATE_MS = isQuick ? 2_000 : 12_000;
/** Rounds that are not counted, in which threads start and code is compiled. */
const WARM_UP = isQuick ? 0 : 2;
/** Pause after the start, before the memory at rest is measured. */
const REST_MS = isQuick ? 0 : 5_000;
const DELAY_MS = 5;
const OFFERED_PER_SECOND = 20;
const OFFERED = isQuick ? 20 : 200;
/** Budgets that the speed of the machine leaves out: the least creations beside answers of a bare server, and the most that a creation takes beside a read. */
const [LEAST_PER_1000_ANSWERS, MOST_READS] = [2.5, 6];
/** How much longer than most the slowest in a hundred may take. */
const MOST_TIMES_P50 = 4;
const imageOf = (caller: number) => ({
  model: 'xSD5Pro',
  prompt: 'a lighthouse',
  endUserEmail: `user-${caller}@example.com`,
});

/** Speed, latencies and memory of the local run, in a process of its own. */
export const measureLocalRun = async (): Promise<Part> => {
  const service = await startService();
  try {
    await sleep(REST_MS);
    const atRest = service.megabytes();
    const keys = await Promise.all(
      Array.from({ length: CALLERS }, (_, caller) => service.newCaller(`caller-${caller}`)),
    );
    const speed = await measureSpeed(service, keys);
    const memory = [
      resultOf('local run: memory at rest', atRest / 1_024, 'GB', { budget: 0.25 }),
      resultOf('local run: memory with 10 callers', service.megabytes() / 1_024, 'GB', { budget: 0.7 }),
    ];
    const answers = await measureAnswers(service, keys);
    return { title: 'The local run', note: NOTE, results: [...speed, ...memory, ...answers] };
  } finally {
    await service.close();
  }
};

const NOTE = `The run and its 10 callers, each with its own account, share two processors.`;

const readsPerSecond = (url: string, keys: readonly string[] = []): Promise<number> =>
  perSecond(CALLERS, READ_MS, (caller) => expectCall(200, url, keys[caller] ?? ''));

/** How often a second the same callers are answered by a server that does nothing else. */
const bareAnswersPerSecond = async (): Promise<number> => {
  const { url, close } = await startBareServer();
  try {
    return await readsPerSecond(url);
  } finally {
    close();
  }
};

const measureSpeed = async (
  { baseUrl, openExecutions, megabytes }: Service,
  keys: readonly string[],
): Promise<Result[]> => {
  const readUrl = `${baseUrl}/v1/balance`;
  for (let round = 0; round < WARM_UP; round++) await readsPerSecond(readUrl, keys);
  const reads = await readsPerSecond(readUrl, keys);
  logProgress(`reads: ${reads.toFixed(0)} a second`);
  const bare = await bareAnswersPerSecond();
  logProgress(`a bare server: ${bare.toFixed(0)} a second`);

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
  const warmMegabytes = megabytes();
  const creations = await create();
  logProgress(`creations: ${creations.toFixed(1)} a second`);
  return [
    resultOf('local run: reads', reads, '/s'),
    resultOf('local run: creations with their whole flow', creations, '/s'),
    resultOf('local run: creations to 1,000 answers of a bare server', (creations * 1_000) / bare, '‰', {
      ...{ budget: LEAST_PER_1000_ANSWERS, atLeast: true },
    }),
    resultOf('local run: growth of its memory by creations when warm', megabytes() / warmMegabytes, '×', {
      ...(!isQuick && { budget: 1.25 }),
    }),
  ];
};

/** The milliseconds of calls that are sent at a fixed rate, each by the next caller. */
const offered = async (call: (caller: number) => Promise<number>): Promise<number[]> => {
  const sent: Promise<number>[] = [];
  for (let index = 0; index < OFFERED; index++) {
    sent.push(call(index % CALLERS));
    await sleep(1_000 / OFFERED_PER_SECOND);
  }
  return Promise.all(sent);
};

const measureAnswers = async (service: Service, keys: readonly string[]): Promise<Result[]> => {
  const { baseUrl } = service;
  await armFault(service, { call: '*', delayMilliseconds: DELAY_MS, times: Number.MAX_SAFE_INTEGER });
  const reads = await offered((caller) => expectCall(200, `${baseUrl}/v1/balance`, keys[caller] ?? ''));
  const creations = await offered((caller) =>
    expectCall(202, `${baseUrl}/v1/generations`, keys[caller] ?? '', imageOf(caller)),
  );
  await disarmFaults(service);
  while ((await service.openExecutions()) > 0) await sleep(50);
  const name = `202 with ${DELAY_MS} ms added to every call, ${OFFERED_PER_SECOND}/s`;
  const [p50, p99] = [percentile(creations, 0.5), percentile(creations, 0.99)];
  logProgress(`${name}: p50 ${p50.toFixed(0)} ms`);
  return [
    resultOf(`${name}: p50`, p50, 'ms'),
    resultOf(`${name}: p50 to that of a read`, p50 / percentile(reads, 0.5), '×', { budget: MOST_READS }),
    resultOf(`${name}: p99 to p50`, p99 / p50, '×', { budget: MOST_TIMES_P50 }),
  ];
};
