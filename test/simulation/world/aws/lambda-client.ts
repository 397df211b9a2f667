import { ServiceException, TooManyRequestsException } from '@aws-sdk/client-lambda';
import { makeCall } from '../engine/effects.ts';
import { outside, unlessAborted } from '../engine/invocation.ts';
import type { World } from '../world.ts';
import type { ClientLimits } from './client-limits.ts';
import { type DeployedFunction, type InvocationError, TOO_MANY } from './lambda.ts';

type Input = Record<string, unknown>;

/** How often an event whose run failed is given to its function again, and how old it may become. */
interface Queued {
  retries: number;
  maxAgeMs: number;
}

/** Lambda's defaults, and what the stack sets for a function. */
const BY_DEFAULT: Queued = { retries: 2, maxAgeMs: 6 * 3_600_000 };
const QUEUED: Record<string, Queued> = { 'events/reconcile': { retries: 0, maxAgeMs: 60_000 } };
/** How long an event is on its way to its function, and how long now and then. */
const DELIVERY_MS = [5, 60] as const;
const LONG_DELIVERY_MS = [500, 20_000] as const;
/** When an event is tried again for which there was no room, or whose run failed. */
const ROOM_MS = 2_000;
const FAILED_MS = 60_000;
/** How Lambda reports the error of a function that failed by itself. */
const OURS = /^(Lambda\.|Sandbox\.|Runtime\.)/;

const meta = { $metadata: {} };

/** Answers the Lambda client: runs the function and waits for it, or takes an event for it. */
export const sendToLambda = (
  world: World,
  command: string,
  input: Input,
  limits: ClientLimits,
  signal: AbortSignal | undefined,
): Promise<unknown> => {
  if (command === 'GetAccountSettingsCommand')
    return makeCall(world, {
      name: command,
      service: 'functions',
      ...limits,
      perform: async () => ({ AccountLimit: { ConcurrentExecutions: 1_000 } }),
    });
  if (command !== 'InvokeCommand') throw new Error(`Lambda does not know ${command}.`);
  const fn = world.functionNamed(String(input.FunctionName).split(/[:/]/).at(-1) ?? '');
  const payload: unknown = JSON.parse(String(input.Payload ?? 'null'));
  const isEvent = input.InvocationType === 'Event';
  const called = makeCall(world, {
    name: `${command} ${fn.name}`,
    service: 'functions',
    ...limits,
    perform: () => (isEvent ? enqueue(world, fn, payload) : invoke(world, fn, payload)),
  });
  return unlessAborted(called, signal);
};

const invoke = async (world: World, fn: DeployedFunction, payload: unknown): Promise<unknown> => {
  try {
    return { StatusCode: 200, Payload: bytesOf(await world.lambda.run(fn, payload)) };
  } catch (error) {
    const { name, message } = error as Error;
    if (name === TOO_MANY) throw new TooManyRequestsException({ message, ...meta });
    if (name === 'Lambda.ServiceException') throw new ServiceException({ message, ...meta });
    const errorType = OURS.test(name) ? 'Unhandled' : name;
    return {
      StatusCode: 200,
      FunctionError: 'Unhandled',
      Payload: bytesOf({ errorType, errorMessage: message }),
    };
  }
};

/** Lambda has the event, and gives it to its function a moment later: at least once, unless it gets too old. */
const enqueue = (world: World, fn: DeployedFunction, payload: unknown) => {
  const { random, scheduler, lambda } = world;
  const [least, most] = random.next() < lambda.lateEventShare ? LONG_DELIVERY_MS : DELIVERY_MS;
  scheduler.after(random.whole(least, most), () => void outside(() => deliver(world, fn, payload)));
  return { StatusCode: 202 };
};

const deliver = async (world: World, fn: DeployedFunction, payload: unknown): Promise<void> => {
  const { retries, maxAgeMs } = QUEUED[fn.name] ?? BY_DEFAULT;
  const { scheduler } = world;
  const sentAt = scheduler.now;
  for (let failures = 0; failures <= retries; ) {
    const error = await world.lambda.invoke(fn, payload).then(
      () => undefined,
      (thrown: InvocationError) => thrown,
    );
    if (!error) return;
    const hadRoom = error.name !== TOO_MANY;
    if (hadRoom) failures++;
    await scheduler.sleep(hadRoom ? FAILED_MS * failures : ROOM_MS);
    if (scheduler.now - sentAt > maxAgeMs) return;
  }
};

const bytesOf = (value: unknown) => ({ transformToString: () => JSON.stringify(value ?? null) });
