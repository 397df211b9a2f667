import { CLIP_PREFIX } from '../../core/object-keys.ts';
import {
  DELETED_REQUEST_PREFIX,
  dueListOf,
  requestPartition,
  WEBHOOK_ATTEMPT_PREFIX,
  webhookAttemptPartition,
} from '../../core/table/keys.ts';
import { type ApiCall, callPatiently, LISTS } from './api.ts';
import { requestOf } from './aws/bucket.ts';
import { balanceEventProblems, untoldBalances } from './balance-rules.ts';
import { CLOCKS_APART_MS } from './clocks.ts';
import { ledgerProblems } from './ledger-rules.ts';
import type { Simulation } from './simulation.ts';
import { usageProblems } from './usage-rules.ts';
import { COUNTERS, isTerminal, type Life, objectKeysOf, outcomeOf } from './witness.ts';

/** Everything that is wrong with the store once nothing is under way any more. */
export const storeProblems = (simulation: Simulation): string[] => [
  ...openProblems(simulation),
  ...simulation.standing.restProblems(),
  ...simulation.admission.restProblems(),
  ...ledgerProblems(simulation.world, simulation.witness.lives),
  ...counterProblems(simulation),
  ...simulation.clips.restProblems(),
  ...fileProblems(simulation),
  ...traceProblems(simulation),
  ...retentionProblems(simulation),
  ...providerProblems(simulation),
  ...cancelProblems(simulation),
  ...leftProblems(simulation),
  ...changeProblems(simulation),
  ...webhookProblems(simulation),
  ...balanceEventProblems(simulation),
];

const openProblems = ({ world, witness }: Simulation): string[] => [
  ...witness.open().map(({ requestId, last }) => `${requestId} is ${last.status} and nobody goes on with it`),
  ...world
    .items('REQUEST')
    .filter((record) => isTerminal(record) && record.GSI1PK !== undefined)
    .filter(({ GSI1PK, GSI1SK }) => {
      const isExpiring = dueListOf(String(GSI1PK)) === 'EXPIRE';
      return !isExpiring || Date.parse(String(GSI1SK)) < world.scheduler.now - EXPIRY_MS;
    })
    .map(({ requestId }) => `${requestId} has ended and is still open work`),
  ...world
    .items('DELETED#')
    .filter(({ GSI1PK }) => GSI1PK !== undefined)
    .map(({ requestId }) => `${requestId} was deleted and is still open work`),
  ...world.stepFunctions
    .running()
    .filter(({ machine }) => machine === 'generation')
    .map(({ name, state }) => `the execution of ${name} still runs, in ${state}`),
];

/** Whether an item is one of a request, or an attempt of its webhook. */
const isOf = ({ PK, SK }: { PK?: unknown; SK?: unknown }, requestId: string): boolean => {
  const attempts = webhookAttemptPartition(requestId);
  return (
    PK === requestPartition(requestId) || (PK === attempts && String(SK).startsWith(WEBHOOK_ATTEMPT_PREFIX))
  );
};

/** Items that are left of requests that were deleted. */
const traceProblems = ({ world }: Simulation): string[] =>
  world
    .items(DELETED_REQUEST_PREFIX)
    .flatMap(({ requestId }) =>
      [...world.table.items.values()]
        .filter((item) => isOf(item, String(requestId)))
        .map(({ SK }) => `[traces] ${SK} of ${requestId} is there and its request was deleted`),
    );

const counterProblems = ({ world, witness }: Simulation): string[] => {
  const endUsers = world.items('END_USER#');
  const problems = endUsers.flatMap((endUser) => {
    const due = witness.counters.get(`${endUser.PK}|${endUser.SK}`);
    return COUNTERS.filter((name) => endUser[name] !== (due?.[name] ?? 0)).map(
      (name) => `${endUser.email} has ${name} ${endUser[name]}, not ${due?.[name] ?? 0}`,
    );
  });
  return [
    ...problems,
    ...endUsers
      .filter(({ deletingAt, activeRequests }) => deletingAt !== undefined && activeRequests !== 0)
      .map(({ email }) => `${email} is being removed with work under way`),
  ];
};

/** How long the removal of files may take whose time is over, whatever happens: it is attempted once an hour at least. */
const EXPIRY_MS = 3 * 3_600_000;

const fileProblems = ({ world, witness }: Simulation): string[] => {
  const strays = [...world.objects.keys()].flatMap((objectKey) => {
    const life = witness.lives.get(requestOf(objectKey));
    if (!life) return objectKey.startsWith(CLIP_PREFIX) ? [] : [`${objectKey} is of no request`];
    if (life.removedAt !== undefined) return [`${objectKey} is there and its request was deleted`];
    const isOver = Date.parse(String(life.last.expiresAt)) < world.scheduler.now - EXPIRY_MS;
    if (isOver) return [`${objectKey} is there and its time is over`];
    if (world.unremovable.has(life.requestId)) return [];
    return life.last.status === 'failed' ? [`${objectKey} is there and its request failed`] : [];
  });
  const isDelivering = ({ last, removedAt }: Life): boolean =>
    removedAt === undefined &&
    last.status === 'succeeded' &&
    Date.parse(String(last.expiresAt)) > world.scheduler.now;
  const missing = witness
    .all()
    .filter(isDelivering)
    .flatMap(({ last }) =>
      objectKeysOf(last)
        .filter((objectKey) => !world.objects.has(objectKey))
        .map((objectKey) => `${objectKey} is promised and is not there`),
    );
  const shared = witness
    .all()
    .filter(({ last }) => new Set(objectKeysOf(last)).size < objectKeysOf(last).length)
    .map(({ requestId }) => `[one file] outputs of ${requestId} are one file`);
  return [...strays, ...missing, ...shared];
};

/** Whether a provider was asked for more than was planned: an answer that was lost must not be asked for again. */
const providerProblems = ({ world, witness, creations }: Simulation): string[] =>
  creations.all.flatMap(({ prompt }) => {
    const marker = prompt.split(' ')[0] ?? '';
    const accepted = world.providers.accepted.get(marker) ?? 0;
    const led = witness.all().filter((life) => life.prompt === prompt);
    const due = led.reduce((sum, life) => sum + witness.plannedCallsOf(life), 0);
    return accepted > due ? [`the provider accepted ${accepted} calls of ${marker}, not ${due}`] : [];
  });

/** Whether a task was cancelled whose request could still get what it makes. */
const cancelProblems = ({ world, witness }: Simulation): string[] =>
  world.providers.cancels.flatMap(({ marker, at }) => {
    const hasEnded = witness.all().some(
      // Not by `finishedAt`: the clock of who wrote that may be ahead.
      ({ prompt, last, endedAt }) => prompt.startsWith(`${marker} `) && isTerminal(last) && endedAt <= at,
    );
    return hasEnded ? [] : [`a task of ${marker} was cancelled before its request had ended`];
  });

/** Whether a task is left to run although its request has failed, and nothing went wrong since. */
const leftProblems = ({ world, witness }: Simulation): string[] =>
  witness.all().flatMap(({ requestId, prompt, last, endedAt, removedAt }) => {
    if (last.status !== 'failed' || removedAt !== undefined || world.evidence.disturbedAt > endedAt)
      return [];
    const marker = prompt.split(' ')[0] ?? '';
    const hasTask = world
      .items('ATTEMPT#')
      .some((one) => one.requestId === requestId && outcomeOf(one) === 'accepted');
    return !hasTask || world.providers.cancels.some((cancel) => cancel.marker === marker)
      ? []
      : [`[left running] ${requestId} failed, and nobody cancels its task`];
  });

/** An operator's change happens once, whatever became of its answer. */
const changeProblems = ({ world }: Simulation): string[] => {
  const references = world.items('ENTRY#').map(({ accountId, reference }) => `${accountId} ${reference}`);
  const manual = references.filter((reference) => /top-up|adjust/.test(reference));
  return manual.length === new Set(manual).size ? [] : ['a change of a balance was applied twice'];
};

/** Whether a receiver was told of something that is not so. */
const webhookProblems = ({ world, witness }: Simulation): string[] =>
  world.receivers.told.flatMap(({ requestId, webhookId, type, status }) => {
    const life = witness.lives.get(requestId);
    if (!life) return [`a receiver was told of ${requestId}, which was never accepted`];
    const kind = life.accepted.kind === 'video' ? 'video' : 'generation';
    const right =
      webhookId === `msg_${requestId}` &&
      type === `${kind}.${life.last.status}` &&
      (status === life.last.status || status === 'expired');
    return right ? [] : [`${requestId} is ${life.last.status} and ${webhookId} told of ${type}, ${status}`];
  });

/** More tries than the redeliveries and restarts of one run can come to. */
const TRIES_OF_GONE = 6;
/** The first pause of the schedule is 5 s, the second 5 min. */
const FIRST_PAUSE_MS = 120_000;

/** After a 410 no more attempts follow. After a first refusal the next attempt comes soon, unless something was wrong. */
const scheduleProblems = ({ world, witness }: Simulation): string[] => {
  // All receivers are on one host, and an account's deliveries to a slow host are put off for a while.
  const putOff = new Set(
    world.receivers.told
      .filter(({ receiver }) => receiver === 'slow')
      .map((one) => witness.lives.get(one.requestId)?.accountId),
  );
  return witness.all().flatMap(({ requestId, accountId, acceptedAt }) => {
    const told = world.receivers.told.filter((one) => one.requestId === requestId);
    const [first, second] = told;
    const pauseMs = first && second && !first.taken ? second.at - first.at : 0;
    return [
      ...(first?.receiver === 'gone' && told.length > TRIES_OF_GONE
        ? [`[gone] the receiver of ${requestId} is gone and was told ${told.length} times`]
        : []),
      ...(first?.receiver !== 'gone' &&
      !putOff.has(accountId) &&
      pauseMs > FIRST_PAUSE_MS &&
      world.evidence.disturbedAt < acceptedAt
        ? [`[first pause] the end of ${requestId} was told again after ${pauseMs} ms`]
        : []),
    ];
  });
};

/** A record is kept as long as it was accepted to be. */
const retentionProblems = ({ witness }: Simulation): string[] =>
  witness.all().flatMap(({ requestId, last }) => {
    if (!isTerminal(last)) return [];
    const from = last.status === 'succeeded' ? last.expiresAt : last.finishedAt;
    const until = Date.parse(String(from)) + Number(last.retentionDays) * 86_400_000;
    return Number(last.ttl) * 1000 > until - 1_000 ? [] : [`[retention] ${requestId} goes before its time`];
  });

/** The requests whose end no receiver took, once every try there can be was made. */
export const deliveryProblems = (simulation: Simulation): string[] => [
  ...undeliveredProblems(simulation),
  ...untoldBalances(simulation),
  ...scheduleProblems(simulation),
];

const undeliveredProblems = ({ world, witness, deliveriesAborted }: Simulation): string[] =>
  witness
    .all()
    .filter(({ requestId, accepted, removedAt }) => {
      const url = accepted.webhookUrl;
      return url !== undefined && removedAt === undefined && !deliveriesAborted.has(requestId);
    })
    .filter(({ requestId, accepted }) => {
      const told = world.receivers.told.filter((told) => told.requestId === requestId);
      return String(accepted.webhookUrl).endsWith('gone')
        ? told.length === 0
        : !told.some(({ taken }) => taken);
    })
    .map(({ requestId }) => `the end of ${requestId} was never delivered`);

/** Everything that callers would find wrong once nothing is under way any more. */
export const answerProblems = async (simulation: Simulation, withLists: boolean): Promise<string[]> => {
  const problems: string[] = [];
  const { world, witness, callers } = simulation;
  for (const life of witness.lives.values()) {
    const { now } = world.scheduler;
    if (Math.abs(Date.parse(String(life.last.expiresAt)) - now) < CLOCKS_APART_MS) continue;
    const answer = await simulation.read(life);
    const { requestId, last, removedAt } = life;
    const isGone = removedAt !== undefined || (typeof last.ttl === 'number' && last.ttl * 1000 <= now);
    const isExpired = last.status === 'succeeded' && Date.parse(String(last.expiresAt)) <= now;
    const due = isGone ? 404 : 200;
    if (answer.status !== due) problems.push(`${requestId} is answered with ${answer.status}, not ${due}`);
    const status = isExpired ? 'expired' : last.status;
    if (due === 200 && answer.body.status !== status) {
      problems.push(`${requestId} reads ${answer.body.status}, not ${status}`);
    }
    const items = (answer.body.images ?? answer.body.videos ?? []) as { url?: string }[];
    const delivered = items.filter(({ url }) => url !== undefined).length;
    if (due === 200 && status === 'succeeded' && delivered !== objectKeysOf(last).length) {
      problems.push(`${requestId} shows ${delivered} files of ${objectKeysOf(last).length}`);
    }
  }
  for (const caller of withLists ? callers : []) {
    const { accountId, apiKey } = caller;
    problems.push(...(await listProblems(simulation, accountId, apiKey)));
    problems.push(...(await usageProblems(simulation, accountId, apiKey)));
    problems.push(...(await simulation.budgets.answerProblems(caller)));
  }
  return problems;
};

/** Requests on a page: most accounts have more than one page of them. */
const PAGE_SIZE = 5;

const listProblems = async (
  { world, witness }: Simulation,
  accountId: string,
  apiKey: string,
): Promise<string[]> => {
  const { now } = world.scheduler;
  const balance = await callPatiently(world, { route: 'get-balance', apiKey });
  const account = world.table.get({ PK: `ACCOUNT#${accountId}`, SK: 'ACCOUNT' });
  const problems =
    balance.body.xTokens === Number(account?.balanceThousandths) / 1000 ? [] : ['the balance differs'];
  const lives = witness
    .all()
    .filter((life) => life.accountId === accountId)
    .filter(({ removedAt, last }) => removedAt === undefined && !(Number(last.ttl) * 1000 <= now));
  for (const [kind, route] of Object.entries(LISTS)) {
    const ofKind = lives.filter(({ accepted }) => accepted.kind === kind);
    // Every request by no model, and once more by its own.
    for (const model of [undefined, ...new Set(ofKind.map(({ accepted }) => String(accepted.model)))]) {
      const list = await readList(world, { route, apiKey, query: model === undefined ? {} : { model } });
      const due = ofKind
        .filter(({ accepted }) => model === undefined || accepted.model === model)
        .map(({ requestId }) => requestId)
        .toSorted()
        .toReversed();
      problems.push(...list.problems);
      if (list.ids.join() !== due.join())
        problems.push(`${route} of ${model ?? 'all'} shows ${list.ids}, not ${due}`);
    }
  }
  return problems;
};

/** The ids on all pages of a list. */
const readList = async (
  world: Simulation['world'],
  { query, ...call }: Pick<ApiCall, 'route' | 'apiKey' | 'query'>,
): Promise<{ ids: string[]; problems: string[] }> => {
  const ids: string[] = [];
  const problems: string[] = [];
  for (let page = 1; ; page++) {
    const ofPage = { ...query, page: String(page), pageSize: String(PAGE_SIZE) };
    const { status, body } = await callPatiently(world, { ...call, query: ofPage });
    if (status !== 200) return { ids, problems: [`${call.route} is answered with ${status}`] };
    const items = body.items as { requestId: string }[];
    ids.push(...items.map(({ requestId }) => requestId));
    if (body.hasMore !== true) return { ids, problems };
    if (items.length < PAGE_SIZE) problems.push(`[short page] page ${page} has ${items.length} requests`);
  }
};
