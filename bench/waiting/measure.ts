import { invocations } from '../../test/simulation/world/engine/invocation.ts';
import { Random } from '../../test/simulation/world/engine/random.ts';
import { isQuick } from '../publish.ts';
import { type Part, type Result, resultOf } from '../results.ts';
import { openService, type SimulatedService, type Wrap } from '../simulated/service.ts';
import { freePermits, mostInSecond, percentile, type Served } from './rules.ts';

const REQUESTS = isQuick ? 60 : 1_000;
const SEED = 20_261_123;
/** How long a provider takes to answer a query. */
const ANSWER_MS = 600;
/** Longer than the longest task, and any wait in the queue that is left by then. */
const REST_MS = 2 * 3_600_000;
const RUNNING_AT_ONCE = 5;
/** What Model Studio takes of one account: queries and lists. */
const QUERIES_A_SECOND = 20;
/** Models of the account whose tasks are polled. */
const POLLED_MODELS = /^(wan|qwen)/;

/** Requests of models, each in its turn, with tasks of a length between two, arriving at random. */
interface Situation {
  name: string;
  models: readonly string[];
  requests: number;
  seconds: readonly [least: number, most: number];
  /** Mean seconds from one arrival to the next. */
  everySeconds: number;
  /** After how many finished tasks the reconciler's process dies once more. */
  diesEach?: number;
}

/** Videos of 315 s on two routes with 5 running tasks each: this part of the routes' time is used. */
const VIDEO_LOAD = 0.7;
const VIDEOS = {
  models: ['xW2.7S', 'xW3.0s'],
  requests: REQUESTS,
  seconds: [30, 600],
  everySeconds: 315 / (2 * RUNNING_AT_ONCE) / VIDEO_LOAD,
} as const;
const IMAGES = { models: ['xQI3Pro'], requests: REQUESTS, seconds: [5, 60] } as const;

/** Of seconds and of the duration: how late a finished task may be seen, by the longer of the two. */
const ALLOWED = [
  { which: 'p50', share: 0.5, seconds: 3, ofDuration: 0.03 },
  { which: 'p95', share: 0.95, seconds: 5, ofDuration: 0.06 },
  { which: 'worst', share: 1, seconds: 7, ofDuration: 0.1 },
] as const;

/** How late finished tasks of polled providers are seen, and how long permits stay unused, in virtual time. */
export const measureWaiting = async (): Promise<Part> => {
  const videos = await measure({ name: 'videos, 30 to 600 s', ...VIDEOS });
  const images = await measure({ name: 'images, 5 to 60 s, 10 at once', ...IMAGES, everySeconds: 3.25 });
  const crowd = await measure({ name: 'images, 50 at once', ...IMAGES, everySeconds: 0.65 });
  const dying = await measure({
    name: 'videos while the reconciler dies',
    ...VIDEOS,
    requests: REQUESTS / 4,
    diesEach: 4,
  });
  return {
    title: 'Waiting',
    note: `${REQUESTS.toLocaleString('en')} requests of each kind on the default routes, in the simulation; videos use ${VIDEO_LOAD * 100} % of two routes of ${RUNNING_AT_ONCE} running tasks.
A finished task is *seen* when its output is first fetched. Allowed are ${ALLOWED.map(({ which, seconds, ofDuration }) => `${seconds} s or ${ofDuration * 100} % of the duration (${which})`).join(', ')}, the longer of the two.`,
    results: [
      ...seenResults(videos, true),
      ...permitResults(videos, 5),
      ...seenResults(images, true),
      ...seenResults(crowd, false),
      ...permitResults(dying, 65),
    ],
  };
};

interface Measured {
  situation: Situation;
  served: Served[];
  transitions: number;
  lists: number;
  mostQueries: number;
}

const seconds = (milliseconds: number): number => milliseconds / 1_000;

const seenResults = (
  { situation: { name }, served, transitions, lists, mostQueries }: Measured,
  isBudgeted: boolean,
): Result[] => {
  const lateness = served.map(({ fetchedAt, doneAt }) => fetchedAt - doneAt);
  const durations = served.map(({ doneAt, calledAt }) => doneAt - calledAt);
  const queries = served.reduce((sum, request) => sum + request.queries, 0);
  return [
    ...ALLOWED.map(({ which, share }) =>
      resultOf(`${name}: seen, ${which}`, seconds(percentile(lateness, share)), 's'),
    ),
    ...ALLOWED.map(({ which, share, seconds: atLeast, ofDuration: part }) => {
      const ofAllowed = lateness.map(
        (late, index) => (100 * late) / Math.max(atLeast * 1_000, part * (durations[index] as number)),
      );
      const most = percentile(ofAllowed, share);
      return resultOf(
        `${name}: seen, ${which}, of what is allowed`,
        most,
        '%',
        isBudgeted ? { budget: 100 } : {},
      );
    }),
    resultOf(`${name}: queries a request`, queries / served.length, 'queries'),
    resultOf(`${name}: pages of lists a request`, lists / served.length, 'pages'),
    resultOf(`${name}: queries and lists of the account in a second, most`, mostQueries, 'queries', {
      budget: QUERIES_A_SECOND,
    }),
    resultOf(`${name}: transitions a request`, transitions / served.length, 'transitions'),
  ];
};

const permitResults = ({ situation: { name }, served }: Measured, budget: number): Result[] => {
  const gaps = freePermits(served, RUNNING_AT_ONCE);
  return [
    resultOf(`${name}: permits freed while a request waits`, gaps.length, 'permits'),
    ...ALLOWED.map(({ which, share }) =>
      resultOf(
        `${name}: free permit to the next start, ${which}`,
        seconds(percentile(gaps, share)),
        's',
        which === 'worst' ? { budget } : {},
      ),
    ),
  ];
};

type Run = NonNullable<ReturnType<typeof invocations.getStore>>;

/** A request that the service accepted. */
interface Accepted {
  model: string;
  prompt: string;
  requestId: string;
  acceptedAt: number;
}

const measure = async (situation: Situation): Promise<Measured> => {
  const { requests, seconds: range } = situation;
  const random = new Random(SEED);
  const durations = durationsOf(requests, range, random);
  const workMs = (prompt: string): number =>
    Math.round((durations[Number(prompt.split(' ')[1])] as number) * 1_000);
  const runs = new Set<Run>();
  const service = await openService({ workMs, answerMs: ANSWER_MS }, watched(runs));
  const { world, provider } = service;
  try {
    let transitions = 0;
    world.stepFunctions.onEntered = ({ machine }) => {
      if (machine === 'generation') transitions++;
    };
    killRuns(service, situation, { runs, random });
    const accepted = await acceptAll(service, situation, random);
    const served = accepted.map((request) => servedOf(service, request));
    const queries = [...provider.calls.values()].flatMap(({ model, queriedAt }) =>
      POLLED_MODELS.test(model) ? queriedAt : [],
    );
    const lists = provider.listedAt.map(({ at }) => at);
    return {
      situation,
      served,
      transitions,
      lists: lists.length,
      mostQueries: mostInSecond([...queries, ...lists]),
    };
  } finally {
    service.close();
  }
};

/** Durations spread evenly over the range, in random order. */
const durationsOf = (requests: number, [least, most]: Situation['seconds'], random: Random): number[] =>
  shuffled(
    Array.from({ length: requests }, (_, index) => least + ((most - least) * (index + 0.5)) / requests),
    random,
  );

/** Kills the runs of the reconciler up to 3 s after every `diesEach`-th result that the provider reports. */
const killRuns = (
  { world: { scheduler }, provider }: SimulatedService,
  { diesEach }: Situation,
  { runs, random }: { runs: Set<Run>; random: Random },
): void => {
  let reported = 0;
  const isReported = new WeakSet<object>();
  provider.onReported = (call) => {
    if (diesEach === undefined || isReported.has(call)) return;
    isReported.add(call);
    if (++reported % diesEach === 0)
      scheduler.after(random.whole(0, 3_000), () => {
        for (const run of runs) run.kill('killed');
        runs.clear();
      });
  };
};

/** Creates the requests at random intervals, and waits until all have ended. Throws when a creation fails. */
const acceptAll = async (
  { world, create, statusOf }: SimulatedService,
  { models, requests, everySeconds }: Situation,
  random: Random,
): Promise<Accepted[]> => {
  const { scheduler } = world;
  const accepted: Accepted[] = [];
  const failures: unknown[] = [];
  for (let index = 0; index < requests; index++) {
    const model = models[index % models.length] as string;
    const prompt = `${model} ${index}`;
    create(model, prompt).then(
      (requestId) => accepted.push({ model, prompt, requestId, acceptedAt: scheduler.now }),
      (error: unknown) => failures.push(error),
    );
    await scheduler.advance(-Math.log(1 - random.next()) * everySeconds * 1_000);
  }
  const isOver = (): boolean =>
    failures.length > 0 ||
    (accepted.length === requests &&
      accepted.every(({ requestId }) => ['succeeded', 'failed'].includes(statusOf(requestId))));
  for (let waited = 0; !isOver() && waited < REST_MS; waited += 60_000) await scheduler.advance(60_000);
  if (failures.length > 0) throw failures[0];
  if (world.broken.length > 0) throw world.broken[0];
  return accepted;
};

const servedOf = (
  { provider, statusOf }: SimulatedService,
  { model, prompt, requestId, acceptedAt }: Accepted,
): Served => {
  const call = provider.callFor(prompt);
  if (statusOf(requestId) !== 'succeeded' || !call || !call.reportedAt || !call.fetchedAt)
    throw new Error(`${requestId} is ${statusOf(requestId)}.`);
  const { createdAt: calledAt, doneAt, reportedAt, fetchedAt, queriedAt } = call;
  return { model, acceptedAt, calledAt, doneAt, reportedAt, fetchedAt, queries: queriedAt.length };
};

/** Keeps the reconciler's runs under way, so that they can be killed. */
const watched =
  (runs: Set<Run>): Wrap =>
  (deployment) => {
    const reconcile = deployment.functions.get('reconcile');
    if (!reconcile) throw new Error('There is no reconciler.');
    const { handler } = reconcile;
    const watching: typeof handler = async (event, context) => {
      const run = invocations.getStore();
      if (run) runs.add(run);
      try {
        return await handler(event, context);
      } finally {
        if (run) runs.delete(run);
      }
    };
    const functions = new Map(deployment.functions).set('reconcile', { ...reconcile, handler: watching });
    return { ...deployment, functions };
  };

const shuffled = (values: readonly number[], random: Random): number[] =>
  values
    .map((value) => ({ value, place: random.next() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ value }) => value);
