import type { StateMachineDefinition } from 'aws-local-stepfunctions';

import { messageOf } from '../errors.ts';
import { type DistributedMap, prepareDistributedMap, readDistributedMap } from './map-run.ts';
import { prepareState } from './prepare-state.ts';
import { readTaskLimits } from './task-limits.ts';
import { readTaskResource, type TaskResource } from './task-resource.ts';

/** A state of a definition. */
export interface StateInfo {
  name: string;
  /** The type in the definition; preparing the state may change it. */
  type: string;
  /** The Map state (`name`) or Parallel branch (`name/index`) that holds it; empty at the top. */
  container: string;
  /** The key of its context object (`$$.State`). */
  contextName: string;
  /** For a Task. */
  resource?: TaskResource;
  /** Literal `TimeoutSeconds` and `HeartbeatSeconds`, for the history. */
  timeoutSeconds?: number;
  heartbeatSeconds?: number;
  /** For a Map in distributed mode. */
  distributed?: DistributedMap & { processor: PreparedDefinition };
  /** For a Map; `$` when its input is the list itself. */
  itemsPath?: string;
  /** Whether the interpreter calls one of our handlers for this state. */
  hasHandler: boolean;
}

/** A definition, prepared for the interpreter. */
export interface PreparedDefinition {
  definition: StateMachineDefinition;
  states: Map<string, StateInfo>;
  /** For the whole execution. */
  timeoutSeconds?: number;
}

/** The Map and Parallel states around a state, innermost first. */
export const enclosingStates = (states: Map<string, StateInfo>, name: string): StateInfo[] => {
  const container = states.get(name)?.container ?? '';
  const outer = states.get(container.replace(/\/\d+$/, ''));
  return outer ? [outer, ...enclosingStates(states, outer.name)] : [];
};

type Json = Record<string, unknown>;

const asJson = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const asNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** Fields that the interpreter ignores, so that it would not run what is deployed. */
const UNSUPPORTED_FIELDS = ['Assign', 'Arguments', 'Output', 'ItemReader', 'ItemBatcher', 'ResultWriter'];

const checkSupported = (name: string, state: Json): void => {
  const unknown = UNSUPPORTED_FIELDS.find((field) => field in state);
  if (unknown) throw new Error(`state "${name}": ${unknown} cannot be run locally`);
  if (state.QueryLanguage === 'JSONata') throw new Error(`state "${name}": JSONata cannot be run locally`);
};

/** Throws for literal limits that Step Functions refuses when the machine is created. */
const checkLimits = (name: string, timeoutSeconds: unknown, heartbeatSeconds: unknown): void => {
  try {
    readTaskLimits(timeoutSeconds, heartbeatSeconds);
  } catch (cause) {
    throw new Error(`state "${name}": ${messageOf(cause)}`, { cause });
  }
};

/** Every state that a state can go to. */
const targetsOf = (state: Json): string[] =>
  [state, ...[state.Choices, state.Catch].flatMap((list) => (Array.isArray(list) ? list.map(asJson) : []))]
    .flatMap(({ Next, Default }) => [Next, Default])
    .filter((target) => typeof target === 'string');

/**
 * Throws for targets that do not exist; the interpreter would notice only in the middle of an execution. A full check of the ASL would add
 * a quarter of a second per machine to every start, and belongs in the tests of a definition.
 */
const checkTargets = (fragment: Json): void => {
  const states = asJson(fragment.States);
  if (typeof fragment.StartAt !== 'string' || !(fragment.StartAt in states)) {
    throw new Error(`StartAt names no state: ${fragment.StartAt}`);
  }
  for (const [name, value] of Object.entries(states)) {
    const missing = targetsOf(asJson(value)).find((target) => !(target in states));
    if (missing !== undefined) throw new Error(`state "${name}" leads to "${missing}", which is not there`);
  }
};

const distributedMapOf = (name: string, state: Json): DistributedMap | undefined => {
  try {
    return readDistributedMap(name, state);
  } catch (cause) {
    throw new Error(`state "${name}": ${messageOf(cause)}`, { cause });
  }
};

/** The item processor of a distributed Map, as a machine of its own. */
const processorOf = (state: Json): PreparedDefinition => {
  const { ProcessorConfig: _config, ...fragment } = asJson(state.ItemProcessor);
  const states = new Map<string, StateInfo>();
  const definition = prepareFragment(fragment, '', states);
  return { definition: definition as unknown as StateMachineDefinition, states };
};

/** Prepares a machine, branch or item processor, and adds its states to `states`. */
const prepareFragment = (fragment: Json, container: string, states: Map<string, StateInfo>): Json => {
  checkTargets(fragment);
  const prepared: Json = {};
  for (const [name, value] of Object.entries(asJson(fragment.States))) {
    const state = asJson(value);
    checkSupported(name, state);
    if (states.has(name)) throw new Error(`two states are named "${name}"`);
    const arn = state.Type === 'Task' && typeof state.Resource === 'string' ? state.Resource : undefined;
    const resource = arn === undefined ? undefined : readTaskResource(arn);
    if (arn !== undefined && !resource) throw new Error(`state "${name}": ${arn} cannot be run locally`);
    const timeoutSeconds = asNumber(state.TimeoutSeconds);
    const heartbeatSeconds = asNumber(state.HeartbeatSeconds);
    if (resource) checkLimits(name, timeoutSeconds, heartbeatSeconds);
    const contextName = `s${states.size}`;
    const map = distributedMapOf(name, state);
    const ready = prepareState(map ? prepareDistributedMap(state) : state, contextName);
    states.set(name, {
      name,
      type: String(state.Type),
      container,
      contextName,
      hasHandler: ready.Type === 'Task',
      ...(resource && { resource }),
      ...(map && { distributed: { ...map, processor: processorOf(state) } }),
      ...(state.Type === 'Map' && { itemsPath: String(state.ItemsPath ?? '$') }),
      ...(timeoutSeconds !== undefined && { timeoutSeconds }),
      ...(heartbeatSeconds !== undefined && { heartbeatSeconds }),
    });
    for (const part of ['ItemProcessor', 'Iterator']) {
      if (part in ready) ready[part] = prepareFragment(asJson(ready[part]), name, states);
    }
    if (Array.isArray(ready.Branches)) {
      ready.Branches = ready.Branches.map((branch, at) =>
        prepareFragment(asJson(branch), `${name}/${at}`, states),
      );
    }
    prepared[name] = ready;
  }
  return { ...fragment, States: prepared };
};

/**
 * Reads ASL text (JSONPath) and rewrites it so that the interpreter runs it as Step Functions would (see `prepare-state.ts`). Throws, naming
 * the state, when a target does not exist or something cannot run locally.
 */
export const prepareDefinition = (machineName: string, text: string): PreparedDefinition => {
  try {
    const original = asJson(JSON.parse(text));
    if (original.QueryLanguage === 'JSONata') throw new Error('JSONata cannot be run locally');
    if (text.includes('States.JsonToString')) {
      console.error(
        `[aws] state machine ${machineName}: States.JsonToString loses backslashes in the local run, which breaks text that holds quotes`,
      );
    }
    const { TimeoutSeconds: timeout, ...rest } = original;
    const states = new Map<string, StateInfo>();
    const definition = prepareFragment(rest, '', states);
    return {
      definition: definition as unknown as StateMachineDefinition,
      states,
      ...(typeof timeout === 'number' && { timeoutSeconds: timeout }),
    };
  } catch (cause) {
    throw new Error(`State machine ${machineName}: ${messageOf(cause)}`, { cause });
  }
};
