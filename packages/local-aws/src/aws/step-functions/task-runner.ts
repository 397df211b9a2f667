import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Principal } from '../../types.ts';
import { findRefusal } from '../authorize.ts';
import { messageOf, nameOf } from '../errors.ts';
import { enclosingStates, type StateInfo } from './definition.ts';
import type { History } from './history.ts';
import type { CallIntegration } from './integrations.ts';
import { type DistributedMap, type ItemExecution, runItems } from './map-run.ts';
import { pause } from './pause.ts';
import type { StateContexts } from './state-contexts.ts';
import { createTaskEvents, type TaskEvents } from './task-events.ts';
import { readTaskLimits, timerSeconds } from './task-limits.ts';
import type { TaskResource } from './task-resource.ts';
import type { TaskTokens } from './task-tokens.ts';
import { FatalTaskError, MAX_PAYLOAD_BYTES, TaskError } from './types.ts';

type Json = Record<string, unknown>;

/** Runs the tasks of one execution for the interpreter. */
export interface TaskRunner {
  /** Handlers by state name, for the interpreter. */
  handlers: Record<string, (envelope: unknown) => Promise<never>>;
  /** Ends an attempt at this state, and its token: the interpreter's timer ran out. */
  timeOut(stateName: string): void;
  /** A Map or Parallel state begins or is retried. */
  enter(stateName: string): void;
  /** A Map or Parallel state failed: ends its running attempts without events, and prevents retries inside it. */
  abandon(stateName: string): void;
}

/** What a runner works with. All but `call` and `tokens` belong to the execution. */
export interface TaskRunnerParts {
  states: Map<string, StateInfo>;
  contexts: StateContexts;
  history: History;
  principal: Principal;
  region: string;
  call: CallIntegration;
  tokens: TaskTokens;
  stateMachine: { arn: string };
  /** Starts the execution of an item of a distributed Map. */
  startItem(label: string, input: string): ItemExecution;
  /** Aborted when the execution has ended or this process stops. */
  signal: AbortSignal;
}

interface Attempt {
  timeOut(): void;
  abandon(): void;
}

/** Ends the tasks of an execution that has ended; cannot be retried or caught. */
const stoppedError = () => new FatalTaskError('States.Runtime', 'The execution has stopped');

/** Rejects when the execution stops. */
const whenStopped = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(stoppedError());
    else signal.addEventListener('abort', () => reject(stoppedError()), { once: true });
  });

const checkSize = (output: unknown): void => {
  if (Buffer.byteLength(JSON.stringify(output ?? null)) <= MAX_PAYLOAD_BYTES) return;
  const cause =
    'The state/task returned a result with a size exceeding the maximum number of bytes service limit.';
  throw new FatalTaskError('States.DataLimitExceeded', cause);
};

/** A runner for one execution. */
export const createTaskRunner = (parts: TaskRunnerParts): TaskRunner => {
  const { states, contexts, history, tokens, signal } = parts;
  const open = new Map<string, Set<Attempt>>();
  const abandoned = new Set<string>();
  const isAbandoned = ({ name }: StateInfo) =>
    abandoned.size > 0 && enclosingStates(states, name).some((outer) => abandoned.has(outer.name));
  const stopped = whenStopped(signal);
  // Usually no task waits for this when the execution ends.
  stopped.catch(() => undefined);

  /** Makes the call. With a token, waits until the token is returned or the call fails. */
  const perform = async (resource: TaskResource, envelope: Json, token: string, events: TaskEvents) => {
    const response = parts.call(parts.principal, resource, envelope.parameters);
    if (!resource.waitsForToken) return response;
    const { heartbeatSeconds } = envelope;
    const callback = tokens.wait(token, typeof heartbeatSeconds === 'number' ? heartbeatSeconds : undefined);
    let handedIn = false;
    const settled = callback.finally(() => {
      handedIn = true;
    });
    const submitted = response.then((output) => {
      if (!handedIn) events.submitted(output);
      return settled;
    });
    return Promise.race([settled, submitted]);
  };

  const runTask = async (info: StateInfo & { resource: TaskResource }, envelope: Json, token: string) => {
    const chain = history.takeChain(info.name);
    const events = createTaskEvents(history, info, parts.region, chain);
    const over = Promise.withResolvers<never>();
    let isOpen = true;
    const attempt: Attempt = {
      timeOut() {
        isOpen = false;
        events.timedOut('States.Timeout');
        over.reject(new TaskError('States.Timeout', ''));
      },
      abandon() {
        isOpen = false;
        over.reject(stoppedError());
      },
    };
    const attempts = open.get(info.name) ?? new Set<Attempt>();
    open.set(info.name, attempts.add(attempt));
    events.scheduled(
      envelope.parameters,
      envelope.timeoutSeconds ?? info.timeoutSeconds,
      envelope.heartbeatSeconds,
    );
    try {
      const output = await Promise.race([
        perform(info.resource, envelope, token, events),
        over.promise,
        stopped,
      ]);
      checkSize(output);
      events.succeeded(output);
      return output;
    } catch (error) {
      const name = nameOf(error);
      if (isOpen && !signal.aborted) {
        if (name === 'States.HeartbeatTimeout') events.timedOut(name);
        else events.failed(name, messageOf(error));
      }
      throw error;
    } finally {
      attempts.delete(attempt);
      tokens.forget(token);
    }
  };

  /** Runs a distributed Map, with the permission that Step Functions needs to start the executions. */
  const runMap = async (name: string, map: DistributedMap, items: unknown) => {
    const chain = history.takeChain(name);
    const mapRunArn = `${parts.stateMachine.arn.replace(':stateMachine:', ':mapRun:')}/${map.label}:${randomUUID()}`;
    history.append('MapRunStarted', { mapRunArn }, chain);
    try {
      const permission = { action: 'states:StartExecution', resource: parts.stateMachine.arn };
      const refused = findRefusal(parts.principal, [permission]);
      if (refused) throw new TaskError('StepFunctions.AccessDeniedException', refused);
      const run = runItems(map, items, (input) => parts.startItem(map.label, input), signal);
      const outputs = await Promise.race([run, stopped]);
      checkSize(outputs);
      history.append('MapRunSucceeded', undefined, chain);
      return outputs;
    } catch (error) {
      if (!signal.aborted) {
        history.append('MapRunFailed', { error: nameOf(error), cause: messageOf(error) }, chain);
      }
      throw error;
    }
  };

  const runState = async (info: StateInfo, envelope: Json, token: string): Promise<unknown> => {
    // The interpreter logs that it enters the state before it calls; the log is read by the next turn.
    await nextTurn();
    if (signal.aborted || isAbandoned(info)) throw stoppedError();
    if (info.resource) return runTask({ ...info, resource: info.resource }, envelope, token);
    if (info.distributed) return runMap(info.name, info.distributed, (envelope.parameters as Json).items);
    if (info.type === 'Fail') throw new TaskError(String(envelope.error ?? ''), String(envelope.cause ?? ''));
    history.takeChain(info.name);
    await pause(envelope, signal);
    return envelope.input ?? null;
  };

  const handle = async (info: StateInfo, envelope: Json): Promise<never> => {
    const token = contexts.takeToken();
    const attempt = contexts.beginAttempt(info.name);
    const asked = envelope.timeoutSeconds;
    // The interpreter reads this field for its timer as soon as this function awaits, so it must fit a timer.
    if (asked !== undefined)
      envelope.timeoutSeconds = timerSeconds(typeof asked === 'number' && asked >= 1 ? Math.trunc(asked) : 1);
    if (info.resource) readTaskLimits(asked ?? info.timeoutSeconds, envelope.heartbeatSeconds);
    const output = await runState(info, envelope, token);
    attempt.succeeded();
    return output as never;
  };

  return {
    handlers: Object.fromEntries(
      [...states.values()]
        .filter((info) => info.hasHandler)
        .map((info) => [info.name, (envelope: unknown) => handle(info, envelope as Json)]),
    ),
    timeOut(name) {
      const [oldest] = open.get(name) ?? [];
      oldest?.timeOut();
    },
    enter: (name) => abandoned.delete(name),
    abandon(name) {
      // Within a Map, attempts do not say which iteration they belong to, so they run to their end.
      if (enclosingStates(states, name).some(({ type }) => type === 'Map')) return;
      abandoned.add(name);
      for (const [stateName, attempts] of open) {
        const isInside = enclosingStates(states, stateName).some((outer) => outer.name === name);
        if (isInside) for (const attempt of attempts) attempt.abandon();
      }
    },
  };
};
