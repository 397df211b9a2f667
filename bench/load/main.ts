/**
 * Three minutes of a mixed day on a local run, with faults: `npm run bench:load`, or `-- --quick` for 30 s. Callers create images and
 * videos with webhooks, read each every 5 s, list, and delete some; providers call back; an operator tops up and looks around. Then the
 * faults stop. It exits with 1 if a 202 never ends, a webhook is missing, an undeleted record is lost, a ledger does not add up, or memory grows.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { armFault, disarmFaults, type FaultEffect } from '@generation-service/local-aws/faults';
import { getAccount } from '../../core/accounts/accounts.ts';
import { changeBalance } from '../../core/ledger/ledger.ts';
import { verifyLedger } from '../../core/ledger/verify-ledger.ts';
import { logger } from '../../core/observability.ts';
import { WebhookReceiver } from '../../test/unit/servers/webhook-receiver.ts';
import { call } from '../local-run/calls.ts';
import { type Service, startService } from '../local-run/service.ts';
import { isQuick, logProgress } from '../publish.ts';

const DAY_MS = isQuick ? 30_000 : 180_000;
/** What two cores sustain beside the reads and this process; `--rate=N` offers another. */
const CREATIONS_PER_SECOND = Number(
  process.argv.find((one) => one.startsWith('--rate='))?.slice('--rate='.length) ?? 3,
);
const CALLERS = 10;
const READ_EVERY_MS = 5_000;
const LIST_EVERY_MS = 2_000;
const OPERATE_EVERY_MS = 10_000;
const FAULT_EVERY_MS = 3_000;
/** Longest wait for what the last fault disturbed: tasks are repeated with pauses, and lost work is found once a minute. */
const ENDS_MS = 300_000;
/** The share of ended requests that are deleted. */
const DELETED = 0.1;
/** The most that memory may grow from the first third of the day, when all functions have run, to its end. */
const MOST_GROWTH = 1.25;
const SEED_EMAILS = 20;

const FAULTS: [call: string, effect: FaultEffect][] = [
  ['dynamodb:*', 'throttle'],
  ['dynamodb:*', 'error'],
  ['dynamodb:TransactWriteItems', 'drop'],
  ['dynamodb:UpdateItem', 'drop'],
  ['s3:PutObject', 'error'],
  ['states:StartExecution', 'throttle'],
  ['states:StartExecution', 'drop'],
  ['states:SendTaskSuccess', 'error'],
  ['lambda:Invoke', 'throttle'],
  ['lambda:Invoke', 'error'],
];

const VIDEO = { model: 'xW3.0sPro', resolution: '1080p', durationSec: 2 };
const IMAGE = { model: 'xSD5Pro' };
/** What is created, in turn. */
const BODIES: [path: string, body: Record<string, unknown>][] = [
  ['generations', { ...IMAGE, prompt: 'a lighthouse' }],
  ['generations', { ...IMAGE, prompt: '[delay=2] a pier' }],
  ['videos', { ...VIDEO, prompt: '[delay=2][fail=content_policy] a storm' }],
  ['generations', { ...IMAGE, prompt: '[flaky=2] a buoy' }],
  ['generations', { ...IMAGE, prompt: '[fail=content_policy] a wreck' }],
  ['videos', { ...VIDEO, prompt: '[delay=3][fail=provider_error] a tide' }],
  ['generations', { ...IMAGE, prompt: 'a gull' }],
  ['videos', { ...VIDEO, prompt: '[delay=2][callback=twice][fail=content_policy] a reef' }],
  ['generations', { ...IMAGE, prompt: '[broken=all] a rope' }],
  ['videos', { ...VIDEO, prompt: '[delay=2] waves' }],
];

interface Accepted {
  url: string;
  apiKey: string;
  status: string;
  isDeleted: boolean;
}
const TERMINAL = ['succeeded', 'partially_succeeded', 'failed', 'expired'];
const hasEnded = ({ status, isDeleted }: Accepted): boolean => isDeleted || TERMINAL.includes(status);

/** Does something again and again until the day has ended. */
const all = async (
  everyMs: number,
  endsAt: number,
  work: (turn: number) => Promise<unknown>,
): Promise<void> => {
  for (let turn = 0; performance.now() < endsAt; turn++) {
    await work(turn);
    await sleep(everyMs);
  }
};

const createOne = async (
  service: Service,
  accepted: Map<string, Accepted>,
  { apiKey, turn, webhookUrl }: { apiKey: string; turn: number; webhookUrl: string },
): Promise<void> => {
  const [path, body] = BODIES[turn % BODIES.length] as (typeof BODIES)[number];
  const answer = await call(`${service.baseUrl}/v1/${path}`, apiKey, {
    ...body,
    endUserEmail: `user-${turn % SEED_EMAILS}@example.com`,
    webhookUrl,
  });
  if (answer.status !== 202) return;
  const id = String(answer.body.requestId);
  accepted.set(id, {
    url: `${service.baseUrl}/v1/${path}/${id}`,
    apiKey,
    status: 'queued',
    isDeleted: false,
  });
};

/** Reads a request, and deletes some that have ended. */
const follow = async (one: Accepted, deletes: boolean): Promise<void> => {
  const answer = await call(one.url, one.apiKey);
  if (answer.status === 200) one.status = String(answer.body.status);
  if (answer.status === 404) one.status = 'lost';
  if (!deletes || !TERMINAL.includes(one.status) || Math.random() >= DELETED) return;
  const removed = await fetch(one.url, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${one.apiKey}` },
  });
  // A server error leaves it open whether the request is gone.
  one.isDeleted = removed.status !== 409;
};

const day = async (service: Service, keys: readonly string[], receiver: WebhookReceiver) => {
  const accepted = new Map<string, Accepted>();
  const endsAt = performance.now() + DAY_MS;
  const creating: Promise<void>[] = [];
  const memory: number[] = [];
  let faults = 0;
  const problems: Promise<unknown>[] = [
    all(1_000 / CREATIONS_PER_SECOND, endsAt, async (turn) => {
      const apiKey = keys[turn % keys.length] ?? '';
      creating.push(createOne(service, accepted, { apiKey, turn, webhookUrl: receiver.url }));
    }),
    all(READ_EVERY_MS, endsAt, async () => {
      const open = [...accepted.values()].filter((one) => !hasEnded(one));
      await Promise.all(open.map((one) => follow(one, true)));
    }),
    all(LIST_EVERY_MS, endsAt, (turn) =>
      call(`${service.baseUrl}/v1/generations?page=${1 + (turn % 3)}`, keys[turn % keys.length] ?? ''),
    ),
    all(FAULT_EVERY_MS, endsAt, async (turn) => {
      const [name, effect] = FAULTS[turn % FAULTS.length] as (typeof FAULTS)[number];
      await armFault(service, { call: name, effect, times: 2 });
      faults += 2;
    }),
    all(OPERATE_EVERY_MS, endsAt, async (turn) => {
      memory.push(service.megabytes());
      const accountId = service.accountIds[turn % service.accountIds.length] ?? '';
      const topup = { amountThousandths: 1_000, reason: 'topup', reference: `turn ${turn}` } as const;
      // A fault may hit the operator, who then sees it.
      await changeBalance(accountId, { ...topup, idempotencyKey: `turn-${turn}` }, new Date()).catch(
        () => undefined,
      );
      logProgress(`${accepted.size} accepted, ${[...accepted.values()].filter(hasEnded).length} ended`);
    }),
  ];
  await Promise.all(problems);
  await Promise.all(creating);
  await disarmFaults(service);
  memory.push(service.megabytes());
  return { accepted, memory, faults };
};

const waitForEnds = async (accepted: Map<string, Accepted>, receiver: WebhookReceiver): Promise<void> => {
  const giveUpAt = performance.now() + ENDS_MS;
  const isMissing = (): boolean =>
    [...accepted].some(([id, one]) => !hasEnded(one) || (!one.isDeleted && !isTold(receiver, id)));
  while (isMissing() && performance.now() < giveUpAt) {
    for (const one of accepted.values()) if (!hasEnded(one)) await follow(one, false);
    await sleep(1_000);
  }
};

const isTold = (receiver: WebhookReceiver, id: string): boolean =>
  receiver.received.some(({ body }) => body.includes(`"${id}"`));

const main = async (): Promise<void> => {
  logger.setLogLevel('SILENT');
  const receiver = await new WebhookReceiver().start();
  const service = await startService();
  const failures: string[] = [];
  const expect = (holds: boolean, what: string): void => {
    if (!holds) failures.push(what);
    logProgress(`${holds ? 'holds' : 'DOES NOT HOLD'}: ${what}`);
  };
  try {
    const keys: string[] = [];
    for (let caller = 0; caller < CALLERS; caller++) keys.push(await service.newCaller(`caller-${caller}`));
    const { accepted, memory, faults } = await day(service, keys, receiver);
    logProgress(`${accepted.size} accepted, with up to ${faults} faults; waiting for the ends`);
    await waitForEnds(accepted, receiver);

    const open = [...accepted].filter(([, one]) => !hasEnded(one));
    expect(open.length === 0, `every 202 ended (open: ${open.map(([id, one]) => `${id} ${one.status}`)})`);
    const kept = [...accepted].filter(([, one]) => !one.isDeleted);
    for (const [, one] of kept) await follow(one, false);
    const lost = kept.filter(([, one]) => !TERMINAL.includes(one.status)).map(([id]) => id);
    expect(lost.length === 0, `nothing is lost (lost: ${lost})`);
    const untold = kept.map(([id]) => id).filter((id) => !isTold(receiver, id));
    expect(untold.length === 0, `every end was sent to its webhook (not: ${untold})`);
    const accounts = await Promise.all(service.accountIds.map((id) => getAccount(id)));
    const { problems, entries } = await verifyLedger(accounts);
    expect(problems.length === 0, `${entries} ledger entries add up (problems: ${JSON.stringify(problems)})`);
    const [early = 0, late = 0] = [memory[Math.floor(memory.length / 3)], memory.at(-1)];
    const growth = `${early.toFixed(0)} MB to ${late.toFixed(0)} MB`;
    // A quick run ends before all functions have run often enough.
    if (!isQuick) expect(late <= MOST_GROWTH * early, `memory is flat (${growth})`);
  } finally {
    await service.close();
    await receiver.close();
  }
  process.exitCode = failures.length > 0 ? 1 : 0;
};

await main();
