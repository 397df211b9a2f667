import { randomUUID } from 'node:crypto';

import type { Branch } from './interpreter/branch.ts';
import type { RunEvent } from './interpreter/events.ts';
import { type HistoryEvent, nowSeconds } from './types.ts';

/** Writes an execution's history in Step Functions' event types. */
export interface History {
  /** Adds an event of the execution itself. */
  append(type: string, details?: Record<string, unknown>, timestamp?: number): void;
  /** Adds an event of its run. */
  record(event: RunEvent): void;
}

/** The names in a history's events. */
export interface HistoryNames {
  region: string;
  stateMachineArn: string;
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

type TaskEvent = Extract<RunEvent, { type: `Task${string}` }>;

const taskDetails = (event: TaskEvent): Record<string, unknown> => {
  switch (event.type) {
    case 'TaskScheduled':
      return {
        parameters: JSON.stringify(event.parameters),
        ...(event.timeoutSeconds !== undefined && { timeoutInSeconds: event.timeoutSeconds }),
      };
    case 'TaskSubmitted':
    case 'TaskSucceeded':
      return { output: JSON.stringify(event.output), outputDetails: INCLUDED };
    case 'TaskFailed':
      return { error: event.error, cause: event.cause };
    case 'TaskTimedOut':
      return { error: 'States.Timeout' };
  }
};

/** The history of `createHistory`: the last ids, from which the next event continues. */
class RecordedHistory implements History {
  private readonly names: HistoryNames;
  private readonly pass: (event: HistoryEvent) => void;
  private lastId = 0;
  /** The last event of the execution itself, and of each iteration that runs. */
  private rootId = 0;
  private readonly lastIds = new WeakMap<Branch, number>();

  constructor(names: HistoryNames, write: (event: HistoryEvent) => void) {
    this.names = names;
    this.pass = write;
  }

  append(type: string, details?: Record<string, unknown>, timestamp?: number): void {
    this.write(type, details, undefined, timestamp);
  }

  record(event: RunEvent): void {
    const { visit } = event;
    const { state, branch } = visit;
    const add = (type: string, details?: Record<string, unknown>) => this.write(type, details, branch);
    const dataOf = (field: string, value: unknown) => ({
      name: state.name,
      [field]: JSON.stringify(value ?? null),
      [`${field}Details`]: INCLUDED,
    });
    switch (event.type) {
      case 'StateEntered':
        add(`${state.type}StateEntered`, dataOf('input', event.input));
        return;
      case 'StateExited':
        add(`${state.type}StateExited`, dataOf('output', event.output));
        return;
      case 'StateStarted':
        add(`${state.type}StateStarted`, { length: event.length });
        return;
      case 'StateSucceeded':
      case 'StateFailed':
        add(`${state.type}${event.type}`);
        return;
      case 'StateRetried':
        return;
      case 'MapIterationStarted':
      case 'MapIterationSucceeded':
      case 'MapIterationFailed':
        this.write(event.type, { name: state.name, index: event.branch.index }, event.branch);
        return;
      case 'MapRunStarted': {
        const mapRunArn = `${this.names.stateMachineArn.replace(':stateMachine:', ':mapRun:')}/${event.map.label}:${randomUUID()}`;
        add(event.type, { mapRunArn });
        return;
      }
      case 'MapRunSucceeded':
        add(event.type);
        return;
      case 'MapRunFailed':
        add(event.type, { error: event.error, cause: event.cause });
        return;
      default: {
        const task = {
          resourceType: 'lambda',
          resource: state.waitsForToken ? 'invoke.waitForTaskToken' : 'invoke',
        };
        const scheduled = event.type === 'TaskScheduled' ? { region: this.names.region } : {};
        add(event.type, { ...task, ...scheduled, ...taskDetails(event) });
        if (event.type === 'TaskScheduled') add('TaskStarted', task);
      }
    }
  }

  private lastIdOf(branch: Branch): number {
    return this.lastIds.get(branch) ?? (branch.outer ? this.lastIdOf(branch.outer) : this.rootId);
  }

  private write(
    type: string,
    details: Record<string, unknown> | undefined,
    branch: Branch | undefined,
    timestamp = nowSeconds(),
  ) {
    this.lastId += 1;
    const event: HistoryEvent = {
      id: this.lastId,
      previousEventId: branch ? this.lastIdOf(branch) : this.rootId,
      timestamp,
      type,
    };
    if (details) event[detailsField(type)] = details;
    if (branch?.outer) this.lastIds.set(branch, this.lastId);
    else this.rootId = this.lastId;
    this.pass(event);
  }
}

/** A history that passes each event to `write`. Ids count from 1; `previousEventId` is the previous event of the same line of states. */
export const createHistory = (names: HistoryNames, write: (event: HistoryEvent) => void): History =>
  new RecordedHistory(names, write);
