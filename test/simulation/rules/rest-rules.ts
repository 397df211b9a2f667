import { CLIP_PREFIX } from '../../../core/object-keys.ts';
import {
  accountKey,
  DELETED_REQUEST_PREFIX,
  dueListOf,
  requestPartition,
  WEBHOOK_ATTEMPT_PREFIX,
  webhookAttemptPartition,
} from '../../../core/table/keys.ts';
import { COUNTERS, isTerminal, objectKeysOf, outcomeOf } from '../evidence/witness.ts';
import type { Caller, Simulation } from '../runs/simulation.ts';
import { type ApiCall, callPatiently, LISTS } from '../stimuli/api.ts';
import { requestOf } from '../world/aws/bucket.ts';
import { keyText } from '../world/aws/indexes.ts';
import { CLOCKS_APART_MS } from '../world/clocks.ts';
import type { World } from '../world/world.ts';
import { balanceEventProblems } from './balance-rules.ts';
import { ledgerProblems } from './ledger-rules.ts';
import { problemsOf } from './problems.ts';
import { usageProblems } from './usage-rules.ts';

/** Everything that is wrong with the store once nothing is under way any more. */
export const storeProblems = ({
  world,
  admission,
  clips,
  creations,
  openAiCalls,
  standing,
}: Simulation): string[] => [
  ...openProblems(world),
  ...standing.restProblems(),
  ...admission.restProblems(),
  ...ledgerProblems(world),
  ...counterProblems(world),
  ...clips.restProblems(),
  ...fileProblems(world),
  ...traceProblems(world),
  ...retentionProblems(world),
  ...creations.repeatedProblems(),
  ...openAiCalls.problems(),
  ...cancelProblems(world),
  ...leftProblems(world),
  ...changeProblems(world),
  ...webhookProblems(world),
  ...balanceEventProblems(world),
];

/** How long the removal of files may take whose time is over, whatever happens: it is attempted once an hour at least. */
const EXPIRY_MS = 3 * 3_600_000;

const openProblems = (world: World): string[] => {
  const isOverdue = (at: unknown): boolean => Date.parse(String(at)) < world.scheduler.now - EXPIRY_MS;
  return [
    ...problemsOf(
      world.witness.open(),
      ({ requestId, last }) => `${requestId} is ${last.status} and nobody goes on with it`,
    ),
    ...problemsOf(
      world.items('REQUEST'),
      (record) =>
        isTerminal(record) &&
        record.GSI1PK !== undefined &&
        (dueListOf(String(record.GSI1PK)) !== 'EXPIRE' || isOverdue(record.GSI1SK)) &&
        `${record.requestId} has ended and is still open work`,
    ),
    ...problemsOf(
      world.items(DELETED_REQUEST_PREFIX),
      ({ GSI1PK, requestId }) => GSI1PK !== undefined && `${requestId} was deleted and is still open work`,
    ),
    ...problemsOf(
      world.stepFunctions.running(),
      ({ machine, name, state }) =>
        machine === 'generation' && `the execution of ${name} still runs, in ${state}`,
    ),
  ];
};

/** Remaining items of deleted requests: the requests' own items, and attempts of their webhooks. */
const traceProblems = (world: World): string[] =>
  world.items(DELETED_REQUEST_PREFIX).flatMap(({ requestId }) => {
    const [own, attempts] = [requestPartition(String(requestId)), webhookAttemptPartition(String(requestId))];
    return problemsOf(
      world.table.items.values(),
      ({ PK, SK }) =>
        (PK === own || (PK === attempts && String(SK).startsWith(WEBHOOK_ATTEMPT_PREFIX))) &&
        `[traces] ${SK} of ${requestId} is there and its request was deleted`,
    );
  });

const counterProblems = (world: World): string[] =>
  world.items('END_USER#').flatMap((endUser) => {
    const { email, deletingAt, activeRequests } = endUser;
    const counters = world.witness.counters.get(keyText(endUser));
    return [
      ...problemsOf(COUNTERS, (name) => {
        const due = counters?.[name] ?? 0;
        return endUser[name] !== due && `${email} has ${name} ${endUser[name]}, not ${due}`;
      }),
      ...(deletingAt !== undefined && activeRequests !== 0
        ? [`${email} is being removed with work under way`]
        : []),
    ];
  });

const fileProblems = ({ objects, scheduler, unremovable, witness }: World): string[] => {
  const strays = problemsOf(objects.keys(), (objectKey) => {
    const life = witness.lives.get(requestOf(objectKey));
    if (!life) return !objectKey.startsWith(CLIP_PREFIX) && `${objectKey} is of no request`;
    if (life.removedAt !== undefined) return `${objectKey} is there and its request was deleted`;
    if (Date.parse(String(life.last.expiresAt)) < scheduler.now - EXPIRY_MS)
      return `${objectKey} is there and its time is over`;
    const isLeft = life.last.status === 'failed' && !unremovable.has(life.requestId);
    return isLeft && `${objectKey} is there and its request failed`;
  });
  const delivering = witness
    .all()
    .filter(
      ({ last, removedAt }) =>
        removedAt === undefined &&
        last.status === 'succeeded' &&
        Date.parse(String(last.expiresAt)) > scheduler.now,
    );
  const missing = problemsOf(
    delivering.flatMap(({ last }) => objectKeysOf(last)),
    (objectKey) => !objects.has(objectKey) && `${objectKey} is promised and is not there`,
  );
  const shared = problemsOf(witness.all(), ({ requestId, last }) => {
    const keys = objectKeysOf(last);
    return new Set(keys).size < keys.length && `[one file] outputs of ${requestId} are one file`;
  });
  return [...strays, ...missing, ...shared];
};

/** Whether a task was cancelled whose request could still get what it makes. */
const cancelProblems = ({ providers, witness }: World): string[] =>
  problemsOf(providers.cancels, ({ marker, at }) => {
    const hasEnded = witness
      .all()
      // Not by `finishedAt`: the clock of who wrote that may be ahead.
      .some(
        ({ prompt, last, endedAt }) => prompt.startsWith(`${marker} `) && isTerminal(last) && endedAt <= at,
      );
    return !hasEnded && `a task of ${marker} was cancelled before its request had ended`;
  });

/** How long after the end of a request its tasks are cancelled. */
const CANCELLED_MS = 60_000;

/** Whether a task is left to run although its request has failed, and nothing went wrong as it ended. */
const leftProblems = (world: World): string[] =>
  problemsOf(world.witness.all(), ({ requestId, prompt, last, endedAt, removedAt }) => {
    if (last.status !== 'failed' || removedAt !== undefined) return undefined;
    const { evidence, lateness } = world;
    const isUntold = evidence
      .callsOf(requestId)
      .some(({ made }) => made && evidence.untoldTasks.has(made.id));
    if (
      isUntold ||
      lateness.excusedMs(endedAt, endedAt + CANCELLED_MS, 'providers', 'throttled functions') > 0
    )
      return undefined;
    const [marker] = prompt.split(' ');
    const hasTask = world
      .items('ATTEMPT#')
      .some((one) => one.requestId === requestId && outcomeOf(one) === 'accepted');
    const isCancelled = world.providers.cancels.some((cancel) => cancel.marker === marker);
    return hasTask && !isCancelled && `[left running] ${requestId} failed, and nobody cancels its task`;
  });

/** An operator's change happens once, whatever became of its answer. */
const changeProblems = (world: World): string[] => {
  const references = world.items('ENTRY#').map(({ accountId, reference }) => `${accountId} ${reference}`);
  const manual = references.filter((reference) => /top-up|adjust/.test(reference));
  return manual.length === new Set(manual).size ? [] : ['a change of a balance was applied twice'];
};

/** Whether a receiver was told of something that is not so. */
const webhookProblems = ({ receivers, witness }: World): string[] =>
  problemsOf(receivers.told, ({ requestId, webhookId, type, status }) => {
    const life = witness.lives.get(requestId);
    if (!life) return `a receiver was told of ${requestId}, which was never accepted`;
    const due = life.last.status;
    const kind = life.accepted.kind === 'video' ? 'video' : 'generation';
    const isRight =
      webhookId === `msg_${requestId}` &&
      type === `${kind}.${due}` &&
      (status === due || status === 'expired');
    return !isRight && `${requestId} is ${due} and ${webhookId} told of ${type}, ${status}`;
  });

/** A record is kept as long as it was accepted to be. */
const retentionProblems = ({ witness }: World): string[] =>
  problemsOf(witness.all(), ({ requestId, last }) => {
    const from = last.status === 'succeeded' ? last.expiresAt : last.finishedAt;
    const until = Date.parse(String(from)) + Number(last.retentionDays) * 86_400_000;
    const isKept = Number(last.ttl) * 1000 > until - 1_000;
    return isTerminal(last) && !isKept && `[retention] ${requestId} goes before its time`;
  });

/** Everything that callers would find wrong once nothing is under way any more. */
export const answerProblems = async (simulation: Simulation, withLists: boolean): Promise<string[]> => {
  const problems: string[] = [];
  const { world, callers } = simulation;
  for (const life of world.witness.all()) {
    const { now } = world.scheduler;
    if (Math.abs(Date.parse(String(life.last.expiresAt)) - now) < CLOCKS_APART_MS) continue;
    const answer = await simulation.read(life);
    const { requestId, last, removedAt } = life;
    const isGone = removedAt !== undefined || Number(last.ttl) * 1000 <= now;
    const isExpired = last.status === 'succeeded' && Date.parse(String(last.expiresAt)) <= now;
    const due = isGone ? 404 : 200;
    if (answer.status !== due) problems.push(`${requestId} is answered with ${answer.status}, not ${due}`);
    if (isGone) continue;
    const status = isExpired ? 'expired' : last.status;
    if (answer.body.status !== status)
      problems.push(`${requestId} reads ${answer.body.status}, not ${status}`);
    const items = (answer.body.images ?? answer.body.videos ?? []) as { url?: string }[];
    const delivered = items.filter(({ url }) => url !== undefined).length;
    if (status === 'succeeded' && delivered !== objectKeysOf(last).length)
      problems.push(`${requestId} shows ${delivered} files of ${objectKeysOf(last).length}`);
  }
  for (const caller of withLists ? callers : []) {
    problems.push(...(await listProblems(world, caller)));
    problems.push(...(await usageProblems(world, caller)));
    problems.push(...(await simulation.budgets.answerProblems(caller)));
  }
  return problems;
};

/** Requests on a page: most accounts have more than one page of them. */
const PAGE_SIZE = 5;

const listProblems = async (world: World, { accountId, apiKey }: Caller): Promise<string[]> => {
  const { now } = world.scheduler;
  const balance = await callPatiently(world, { route: 'get-balance', apiKey });
  const account = world.table.get({ ...accountKey(accountId) });
  const problems =
    balance.body.xTokens === Number(account?.balanceThousandths) / 1000 ? [] : ['the balance differs'];
  const lives = world.witness
    .all()
    .filter((life) => life.accountId === accountId && life.removedAt === undefined)
    .filter(({ last }) => !(Number(last.ttl) * 1000 <= now));
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
  world: World,
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
