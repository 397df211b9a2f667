import { describe, expect, test } from '@jest/globals';
import { World } from '../world.ts';
import { sendToLambda } from './lambda-client.ts';

const LIMITS = { maxTries: 2, answerMs: 5_000 };
const HOUR_MS = 3_600_000;

/** A world with one function, which fails so many times, and when it was run, in milliseconds from the beginning. */
const aWorld = (name: string, { failures = 0 } = {}) => {
  const runs: number[] = [];
  const handler = async (event: unknown) => {
    runs.push(world.scheduler.now);
    if (runs.length <= failures) throw Object.assign(new Error('It broke.'), { name: 'OwnError' });
    return { event };
  };
  const stem = name.split('/')[1] ?? '';
  const functions = new Map([[stem, { name, handler, timeoutSeconds: 60 }]]);
  const world = new World({
    seed: 3,
    faults: [],
    startsAt: 0,
    deployment: { machines: { last: new Map(), this: new Map(), next: new Map() }, functions },
  });
  const send = async (input: object): Promise<unknown> => {
    const FunctionName = `arn:aws:lambda:us-east-1:111122223333:function:${stem}`;
    const call = { FunctionName, Payload: JSON.stringify({ requestId: 'vid_1' }), ...input };
    let isAnswered = false;
    const answer = sendToLambda(world, 'InvokeCommand', call, LIMITS, undefined);
    const answered = (): void => {
      isAnswered = true;
    };
    answer.then(answered, answered);
    await world.scheduler.advanceUntil(() => isAnswered, 60_000);
    return answer;
  };
  return { world, runs, send };
};

const textOf = (answer: unknown): unknown =>
  JSON.parse((answer as { Payload: { transformToString: () => string } }).Payload.transformToString());

describe('an invocation by the Lambda client', () => {
  test('is answered with what the function returns', async () => {
    const { send } = aWorld('media/measure');

    expect(textOf(await send({}))).toEqual({ event: { requestId: 'vid_1' } });
  });

  test('is answered with the error of a function that fails', async () => {
    const { send } = aWorld('media/measure', { failures: 1 });
    const answer = await send({});

    expect(answer).toMatchObject({ FunctionError: 'Unhandled' });
    expect(textOf(answer)).toEqual({ errorType: 'OwnError', errorMessage: 'It broke.' });
  });
});

test('an invocation names its function as that knows itself, or by its ARN', async () => {
  const { send } = aWorld('events/loop');

  expect(textOf(await send({ FunctionName: 'events/loop' }))).toMatchObject({ event: {} });
});

describe('an event by the Lambda client', () => {
  const EVENT = { InvocationType: 'Event' };

  test('is answered before its function runs', async () => {
    const { send, runs, world } = aWorld('events/loop');

    expect(await send(EVENT)).toEqual({ StatusCode: 202 });
    expect(runs).toHaveLength(0);
    await world.scheduler.advance(HOUR_MS);
    expect(runs).toHaveLength(1);
  });

  test('is given to a function that fails twice more, a minute and two minutes later', async () => {
    const { send, runs, world } = aWorld('events/loop', { failures: 5 });
    await send(EVENT);
    await world.scheduler.advance(HOUR_MS);

    expect(runs.map((at) => Math.round((at - (runs[0] ?? 0)) / 60_000))).toEqual([0, 1, 3]);
  });

  test('is given once to the reconciler, as the stack configures it', async () => {
    const { send, runs, world } = aWorld('events/reconcile', { failures: 5 });
    await send(EVENT);
    await world.scheduler.advance(HOUR_MS);

    expect(runs).toHaveLength(1);
  });

  test.each([
    [30_000, 1],
    [90_000, 0],
  ])('waits for room until it is too old: %d ms without any, and %d runs', async (lengthMs, times) => {
    const { send, runs, world } = aWorld('events/reconcile');
    world.outages.begin();
    await send(EVENT);
    world.outages.add({ service: 'functions', mode: 'throttles', lengthMs });
    await world.scheduler.advance(HOUR_MS);

    expect(runs).toHaveLength(times);
  });

  test('is refused when Lambda throttles the call itself', async () => {
    const { send, runs, world } = aWorld('events/loop');
    world.outages.begin();
    world.outages.add({ service: 'functions', mode: 'throttles', lengthMs: 30_000 });

    await expect(send(EVENT)).rejects.toMatchObject({ name: 'ThrottlingException' });
    await world.scheduler.advance(HOUR_MS);
    expect(runs).toHaveLength(0);
  });
});
