import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { enterQueue } from '../../../../core/admission/admission.ts';
import { type RouteLimit, routeLimitOf } from '../../../../core/admission/route-limit-rules.ts';
import { readRouteLimits, takePermit } from '../../../../core/admission/route-limits.ts';
import { isQueued, rerouteWaiting } from '../../../../core/reconciler/admit.ts';
import { type RouteState, UNPAUSED } from '../../../../core/route-pauses/pause-rules.ts';
import { requestKey, routeLimitPartition } from '../../../../core/table/keys.ts';
import { at, StoppedClock } from '../../builders/clocks.ts';
import { anImageRequest } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { memory } from '../../fakes/fresh-table.ts';

const [FIRST, SECOND] = ['modelark/one', 'fal/two'] as const;
const UNLIMITED = routeLimitOf(FIRST, {});
const LIMITED = routeLimitOf(FIRST, { maxRunning: 2 });

/** The state of a route that is paused until this second. */
const pausedUntil = (second: number): RouteState => ({
  ...UNPAUSED,
  ...{ pauseReason: 'calls', pausedAt: at(-60), pauseSeconds: 30 },
  pausedUntil: at(second),
});

let woken: string[] = [];
beforeEach(() => {
  woken = [];
});
const wake = async (token: string): Promise<boolean> => {
  woken.push(token);
  return true;
};

/** So many requests queue at a route, each with a token of its name, the first for longest. */
const wait = async (
  limit: RouteLimit,
  count: number,
  routes: string[] | null = [FIRST, SECOND],
  from = 0,
): Promise<void> => {
  for (let index = from; index < from + count; index++) {
    const requestId = `img_${String(index).padStart(2, '0')}`;
    const entry = {
      ...{ requestId, accountId: `acc_${index % 3}`, createdAt: at(index) },
      ...{ taskToken: requestId, tokenOrder: '1', weight: 1, starts: 1, ...(routes && { routes }) },
    };
    await enterQueue(limit.name, entry, new StoppedClock());
  }
};

/** A tick of the loop at a paused route. */
const tick = async (limit: RouteLimit, states: Record<string, RouteState>, number = 0): Promise<void> => {
  const [state] = await readRouteLimits([limit.name]);
  if (!isQueued(state)) return;
  const options = { clock: new StoppedClock(), tick: number, wake };
  const queue = { limit, models: ['xSD4.5'], others: [SECOND] };
  await rerouteWaiting(queue, state, new Map(Object.entries(states)), options);
};

describe('at a paused route, the control loop', () => {
  test('lets ten requests a tick choose again, and frees the route once nobody is left', async () => {
    await wait(UNLIMITED, 12);
    const states = { [FIRST]: pausedUntil(30), [SECOND]: UNPAUSED };

    await tick(UNLIMITED, states);
    expect(woken).toHaveLength(10);
    await tick(UNLIMITED, states);
    expect(woken).toHaveLength(12);
    expect(
      memory.partition(routeLimitPartition(UNLIMITED.name)).map(({ SK, queued }) => [SK, queued]),
    ).toEqual([['LIMIT', undefined]]);
  });

  test('leaves those waiting that no other route takes', async () => {
    await wait(UNLIMITED, 2, [FIRST]);
    await wait(UNLIMITED, 1, [FIRST, SECOND], 2);

    await tick(UNLIMITED, { [FIRST]: pausedUntil(30), [SECOND]: UNPAUSED });
    expect(woken).toEqual(['img_02']);
    // Newcomers queue behind them.
    const stored = memory.partition(routeLimitPartition(UNLIMITED.name));
    expect(stored.map(({ SK }) => SK)).toEqual(expect.arrayContaining(['ACCOUNT#acc_0', 'ACCOUNT#acc_1']));
    expect(stored.find(({ SK }) => SK === 'LIMIT')).toHaveProperty('queued');
  });

  test('lets one choose again whose model has this route no more, and had another one', async () => {
    await wait(UNLIMITED, 1, [FIRST, 'modelstudio/three']);

    await tick(UNLIMITED, { [FIRST]: pausedUntil(30), [SECOND]: UNPAUSED });
    expect(woken).toEqual(['img_00']);
  });

  test.each([
    ['when it has another one now', 2, ['img_00']],
    ['while it has no other one', 1, []],
  ])('lets one whose model had this route alone choose again %s', async (_, count, expected) => {
    const routes = [FIRST, SECOND].slice(0, count).map((name) => {
      const [provider, upstreamModel] = name.split('/');
      return { provider, upstreamModel };
    });
    await wait(LIMITED, 1, null);

    await withEnvironment({ MODEL_ROUTES: JSON.stringify({ 'xSD4.5': routes }) }, () =>
      tick(LIMITED, { [FIRST]: pausedUntil(30), [SECOND]: UNPAUSED }),
    );
    expect(woken).toEqual(expected);
  });

  test.each([
    ['without a limit', UNLIMITED],
    ['with a limit', LIMITED],
  ])('wakes nobody while all routes are paused, then one, to try it: %s', async (_, limit) => {
    await wait(limit, 3);

    await tick(limit, { [FIRST]: pausedUntil(30), [SECOND]: pausedUntil(60) });
    expect(woken).toEqual([]);
    await tick(limit, { [FIRST]: pausedUntil(-1), [SECOND]: pausedUntil(60) });
    expect(woken).toEqual(['img_00']);
    const [state] = await readRouteLimits([limit.name]);
    expect([...(state?.permits.keys() ?? [])]).toEqual(limit === LIMITED ? ['img_00'] : []);
  });

  test('reads no queue while nobody may be woken, and no more of it than those that it wakes', async () => {
    await wait(UNLIMITED, 200);
    memory.client.resetHistory();

    await tick(UNLIMITED, { [FIRST]: pausedUntil(30), [SECOND]: pausedUntil(60) });
    expect(memory.calls()).toEqual({ BatchGetCommand: 1 });
    await tick(UNLIMITED, { [FIRST]: pausedUntil(30), [SECOND]: UNPAUSED });
    const reads = memory.client.commandCalls(QueryCommand).map(({ args }) => args[0].input);
    expect(reads.map(({ Limit }) => Limit)).toEqual([undefined, 50]);
  });

  test.each([
    ['without a limit', UNLIMITED],
    ['with a limit', LIMITED],
  ])('wakes one, without a permit, to try another paused route: %s', async (_, limit) => {
    await wait(limit, 1, [FIRST]);
    await wait(limit, 2, [FIRST, SECOND], 1);
    const left = pausedUntil(60);

    await tick(limit, { [FIRST]: left, [SECOND]: pausedUntil(60) });
    expect(woken).toEqual([]);
    await tick(limit, { [FIRST]: left, [SECOND]: pausedUntil(-1) }, 9);
    expect(woken).toEqual([]);
    await tick(limit, { [FIRST]: left, [SECOND]: pausedUntil(-1) }, 10);
    expect(woken).toEqual(['img_01']);
    expect([...((await readRouteLimits([limit.name]))[0]?.permits.keys() ?? [])]).toEqual([]);
  });

  test('wakes one, to try this route, when another may be tried as well', async () => {
    await wait(UNLIMITED, 3);

    await tick(UNLIMITED, { [FIRST]: pausedUntil(-1), [SECOND]: pausedUntil(-1) }, 10);

    expect(woken).toEqual(['img_00']);
  });

  test('wakes one to try another route while it is full itself', async () => {
    const permit = { requestId: 'img_99', accountId: 'acc_9', weight: 2, starts: 2 };
    memory.put(requestKey('img_99'), anImageRequest({ requestId: 'img_99' }));
    await takePermit(LIMITED, permit, new StoppedClock().now());
    await wait(LIMITED, 2);

    await tick(LIMITED, { [FIRST]: pausedUntil(-1), [SECOND]: pausedUntil(-1) });

    expect(woken).toEqual(['img_00']);
  });
});
