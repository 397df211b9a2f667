import type { StateMachine } from 'aws-local-stepfunctions';

import type { StateInfo } from './definition.ts';
import { type HistoryEvent, nowSeconds } from './types.ts';

/** An event as the interpreter logs it. */
export type InterpreterEvent =
  ReturnType<StateMachine['run']>['eventLogs'] extends AsyncGenerator<infer Event> ? Event : never;

/** A sequence of events: one for the execution, and one per branch and iteration. */
export interface Chain {
  lastId: number;
}

/** Writes an execution's history in Step Functions' event types, from the interpreter's log and the tasks' events. */
export interface History {
  append(type: string, details?: Record<string, unknown>, chain?: Chain, timestamp?: number): void;
  recordInterpreterEvent(event: InterpreterEvent): void;
  /** The chain of the attempt that a task's handler was called for. Call it one turn of the event loop later, when the log was read. */
  takeChain(stateName: string): Chain;
}

/** Step Functions' limit; an execution that reaches it fails. */
export const MAX_HISTORY_EVENTS = 25_000;

const INCLUDED = { truncated: false };

/** The details field of an event type: `mapIterationStartedEventDetails` for `MapIterationStarted`. All states share the entered and exited details. */
const detailsField = (type: string): `${string}EventDetails` => {
  const shared = /State(Entered|Exited)$/.exec(type);
  const name = shared ? `state${shared[1]}` : type.charAt(0).toLowerCase() + type.slice(1);
  return `${name}EventDetails`;
};

/** The number of items of a Map; undefined unless its items path is only names joined by dots. */
const countItems = (input: unknown, itemsPath: string): number | undefined => {
  if (!/^\$(\.\w+)*$/.test(itemsPath)) return undefined;
  let items = input;
  for (const name of itemsPath.split('.').slice(1)) {
    items =
      typeof items === 'object' && items !== null ? (items as Record<string, unknown>)[name] : undefined;
  }
  return Array.isArray(items) ? items.length : undefined;
};

/**
 * A history that passes each event to `write`. Ids count from 1; `previousEventId` is the previous event of the same branch or iteration.
 * The interpreter does not say which iteration a task belongs to, so tasks of concurrent iterations are matched in order of arrival.
 */
export const createHistory = (
  states: Map<string, StateInfo>,
  write: (event: HistoryEvent) => void,
): History => {
  const root: Chain = { lastId: 0 };
  const chains = new Map<string, Chain>();
  const waiting = new Map<string, Chain[]>();
  const failed = new Set<string>();
  let lastId = 0;

  const chainOf = (container: string, index: number | undefined): Chain => {
    if (container === '') return root;
    const key = `${container}#${index ?? ''}`;
    const existing = chains.get(key);
    if (existing) return existing;
    const outer = states.get(container.replace(/\/\d+$/, ''))?.container ?? '';
    const chain = { lastId: chainOf(outer, outer === '' ? undefined : index).lastId };
    chains.set(key, chain);
    return chain;
  };
  const forgetInner = (name: string) => {
    for (const key of chains.keys())
      if (key.startsWith(`${name}#`) || key.startsWith(`${name}/`)) chains.delete(key);
  };

  const append: History['append'] = (type, details, chain = root, timestamp = nowSeconds()) => {
    lastId += 1;
    const event: HistoryEvent = { id: lastId, previousEventId: chain.lastId, timestamp, type };
    if (details) event[detailsField(type)] = details;
    chain.lastId = lastId;
    write(event);
  };

  const expectAttempt = (name: string, chain: Chain) => {
    if (states.get(name)?.hasHandler) waiting.set(name, [...(waiting.get(name) ?? []), chain]);
  };

  const recordEntered = (event: Extract<InterpreterEvent, { type: 'StateEntered' }>, info: StateInfo) => {
    const chain = chainOf(info.container, event.index);
    const at = event.timestamp / 1_000;
    const input = JSON.stringify(event.state.input);
    append(`${info.type}StateEntered`, { name: info.name, input, inputDetails: INCLUDED }, chain, at);
    failed.delete(info.name);
    expectAttempt(info.name, chain);
    if (info.type !== 'Map' && info.type !== 'Parallel') return;
    forgetInner(info.name);
    const length = info.itemsPath === undefined ? undefined : countItems(event.state.input, info.itemsPath);
    append(`${info.type}StateStarted`, length === undefined ? undefined : { length }, chain, at);
  };

  const recordExited = (event: Extract<InterpreterEvent, { type: 'StateExited' }>, info: StateInfo) => {
    const chain = chainOf(info.container, event.index);
    const at = event.timestamp / 1_000;
    const isComposite = info.type === 'Map' || info.type === 'Parallel';
    if (isComposite && !failed.has(info.name)) append(`${info.type}StateSucceeded`, undefined, chain, at);
    const output = JSON.stringify(event.state.output);
    append(`${info.type}StateExited`, { name: info.name, output, outputDetails: INCLUDED }, chain, at);
  };

  return {
    append,
    takeChain: (name) => waiting.get(name)?.shift() ?? chainOf(states.get(name)?.container ?? '', undefined),
    recordInterpreterEvent(event) {
      switch (event.type) {
        case 'MapIterationStarted':
        case 'MapIterationSucceeded':
        case 'MapIterationFailed': {
          const { name } = event.parentState;
          append(
            event.type,
            { name, index: event.index },
            chainOf(name, event.index),
            event.timestamp / 1_000,
          );
          return;
        }
        case 'StateEntered':
        case 'StateExited':
        case 'StateFailed':
        case 'StateRetried': {
          const info = states.get(event.state.name);
          if (!info) return;
          const chain = chainOf(info.container, event.index);
          if (event.type === 'StateEntered') recordEntered(event, info);
          else if (event.type === 'StateExited') recordExited(event, info);
          else if (event.type === 'StateRetried') expectAttempt(info.name, chain);
          else if (info.type === 'Map' || info.type === 'Parallel') {
            failed.add(info.name);
            append(`${info.type}StateFailed`, undefined, chain, event.timestamp / 1_000);
          }
          return;
        }
        default:
          // The execution's own start and end are written by the execution; branches have no events of their own.
          return;
      }
    },
  };
};
