import { messageOf } from '../../errors.ts';
import { checkRule, type Rule } from './choices.ts';
import { checkExpression } from './expressions.ts';
import { type DistributedMap, readDistributedMap } from './map-run.ts';
import type { Retrier } from './retries.ts';
import { readTaskLimits } from './task-limits.ts';
import { readTaskResource, type TaskResource } from './task-resource.ts';

export type StateType = 'Task' | 'Choice' | 'Wait' | 'Pass' | 'Succeed' | 'Fail' | 'Map' | 'Parallel';

/** The fields of a state that are run, as the definition has them. */
export interface Fields {
  InputPath?: string | null;
  Parameters?: unknown;
  ResultSelector?: unknown;
  ResultPath?: string | null;
  OutputPath?: string | null;
  Result?: unknown;
  TimeoutSeconds?: number;
  TimeoutSecondsPath?: string;
  HeartbeatSeconds?: number;
  HeartbeatSecondsPath?: string;
  Seconds?: number;
  SecondsPath?: string;
  Timestamp?: string;
  TimestampPath?: string;
  Choices?: Rule[];
  Default?: string;
  Error?: string;
  ErrorPath?: string;
  Cause?: string;
  CausePath?: string;
  ItemsPath?: string;
  ItemSelector?: unknown;
  MaxConcurrency?: number;
  Retry?: Retrier[];
  Catch?: { ErrorEquals: string[]; ResultPath?: string | null; Next: string }[];
  Next?: string;
}

/** A state of a definition. */
export interface State {
  name: string;
  type: StateType;
  fields: Fields;
  /** Of a Task. */
  resource?: TaskResource;
  /** Of a Map. */
  processor?: Definition;
  /** Of a Map in distributed mode. */
  distributed?: DistributedMap;
  /** Of a Parallel. */
  branches?: readonly Definition[];
}

/** A definition, or the states within a Map or a branch. */
export interface Definition {
  startAt: string;
  states: ReadonlyMap<string, State>;
  /** Of the whole execution. */
  timeoutSeconds?: number;
}

/** Every state of a definition, those within Maps and branches included. */
export const statesOf = (definition: Definition): State[] =>
  [...definition.states.values()].flatMap((state) => [
    state,
    ...[...(state.processor ? [state.processor] : []), ...(state.branches ?? [])].flatMap(statesOf),
  ]);

type Json = Record<string, unknown>;

const asJson = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const listIn = (value: unknown): Json[] => (Array.isArray(value) ? value.map(asJson) : []);

const TYPES: readonly string[] = [
  'Task',
  'Choice',
  'Wait',
  'Pass',
  'Succeed',
  'Fail',
  'Map',
  'Parallel',
] satisfies StateType[];

/** Fields that are not run. */
const UNSUPPORTED_FIELDS = [
  ...['Assign', 'Arguments', 'Output', 'ItemReader', 'ItemBatcher', 'ResultWriter'],
  ...['MaxConcurrencyPath', 'ToleratedFailureCountPath', 'ToleratedFailurePercentagePath'],
];

/** Fields that hold states of their own or literal values. */
const WITHOUT_EXPRESSIONS = new Set(['ItemProcessor', 'Iterator', 'Branches', 'Result']);

/** Throws for a path or an intrinsic function that does not run locally. */
const checkExpressions = (value: unknown, field = ''): void => {
  if (typeof value === 'string') {
    if (field.endsWith('.$') || field.endsWith('Path') || field === 'Variable') checkExpression(value);
  } else if (Array.isArray(value)) {
    for (const part of value) checkExpressions(part);
  } else {
    for (const [name, part] of Object.entries(asJson(value))) checkExpressions(part, name);
  }
};

/** Every state that a state can go to. */
const targetsOf = (state: Json): unknown[] =>
  [state, ...listIn(state.Choices), ...listIn(state.Catch)]
    .flatMap(({ Next, Default }) => [Next, Default])
    .filter((target) => target !== undefined);

const check = (state: Json, names: ReadonlySet<string>): void => {
  if (!TYPES.includes(String(state.Type)))
    throw new Error(`a state of type ${state.Type} cannot be run locally`);
  const unsupported = UNSUPPORTED_FIELDS.find((field) => field in state);
  if (unsupported) throw new Error(`${unsupported} cannot be run locally`);
  if (state.QueryLanguage === 'JSONata') throw new Error('JSONata cannot be run locally');
  const missing = targetsOf(state).find((target) => !names.has(String(target)));
  if (missing !== undefined) throw new Error(`it leads to "${missing}", which is not there`);
  for (const [field, value] of Object.entries(state)) {
    if (!WITHOUT_EXPRESSIONS.has(field)) checkExpressions(value, field);
  }
  for (const rule of listIn(state.Choices)) checkRule(rule);
};

const readResource = (arn: unknown): TaskResource => {
  const resource = readTaskResource(String(arn));
  if (!resource) throw new Error(`${arn} cannot be run locally`);
  return resource;
};

const readState = (name: string, state: Json, seen: Set<string>): State => {
  const fields = state as Fields;
  const type = state.Type as StateType;
  const distributed = type === 'Map' ? readDistributedMap(name, state) : undefined;
  if (type === 'Task') readTaskLimits(fields.TimeoutSeconds, fields.HeartbeatSeconds);
  return {
    name,
    type,
    fields,
    ...(type === 'Task' && { resource: readResource(state.Resource) }),
    ...(distributed && { distributed }),
    ...(type === 'Map' && {
      // The states of an item's execution have names of their own.
      processor: readStates(
        asJson(state.ItemProcessor ?? state.Iterator),
        distributed ? new Set<string>() : seen,
      ),
    }),
    ...(type === 'Parallel' && {
      branches: listIn(state.Branches).map((branch) => readStates(branch, seen)),
    }),
  };
};

const readStates = ({ StartAt, States }: Json, seen: Set<string>): Definition => {
  const entries = Object.entries(asJson(States));
  const names = new Set(entries.map(([name]) => name));
  if (typeof StartAt !== 'string' || !names.has(StartAt)) {
    throw new Error(`StartAt names no state: ${StartAt}`);
  }
  const states = entries.map(([name, value]) => {
    if (seen.has(name)) throw new Error(`two states are named "${name}"`);
    seen.add(name);
    const state = asJson(value);
    try {
      check(state, names);
      return [name, readState(name, state, seen)] as const;
    } catch (cause) {
      throw new Error(`state "${name}": ${messageOf(cause)}`, { cause });
    }
  });
  return { startAt: StartAt, states: new Map(states) };
};

/**
 * Reads ASL text (JSONPath). Throws, naming the state, when a target does not exist or something cannot run locally.
 */
export const readDefinition = (machineName: string, text: string): Definition => {
  try {
    const original = asJson(JSON.parse(text));
    if (original.QueryLanguage === 'JSONata') throw new Error('JSONata cannot be run locally');
    const { TimeoutSeconds } = original;
    return {
      ...readStates(original, new Set()),
      ...(typeof TimeoutSeconds === 'number' && { timeoutSeconds: TimeoutSeconds }),
    };
  } catch (cause) {
    throw new Error(`State machine ${machineName}: ${messageOf(cause)}`, { cause });
  }
};
