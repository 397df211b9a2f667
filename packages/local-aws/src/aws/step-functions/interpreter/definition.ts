import { TemplateError } from '../../../template/assembly.ts';
import { messageOf } from '../../errors.ts';
import { readPath } from './expressions.ts';
import { type DistributedMap, readDistributedMap } from './map-run.ts';
import type { Retrier } from './retries.ts';
import { readTimeout } from './time-limit.ts';

/** A comparison of a Choice state. */
export interface Rule {
  Variable: string;
  StringEquals: string;
  Next: string;
}

/** The fields of a state that are run, as the definition has them. */
export interface Fields {
  Parameters?: unknown;
  ResultSelector?: unknown;
  ResultPath?: string | null;
  OutputPath?: string | null;
  TimeoutSeconds?: number;
  TimeoutSecondsPath?: string;
  Seconds?: number;
  SecondsPath?: string;
  Choices?: Rule[];
  Default?: string;
  Error?: string;
  ErrorPath?: string;
  Cause?: string;
  CausePath?: string;
  ItemsPath?: string;
  MaxConcurrency?: number;
  Retry?: Retrier[];
  Catch?: { ErrorEquals: string[]; ResultPath?: string | null; Next: string }[];
  Next?: string;
}

/** Each type of state with the fields that run locally. Anything else is refused: it would not do what is deployed. */
const FIELDS = {
  Task: [
    ...['Resource', 'Parameters', 'ResultSelector', 'ResultPath', 'OutputPath', 'TimeoutSeconds'],
    ...['TimeoutSecondsPath', 'Retry', 'Catch', 'Next', 'End'],
  ],
  Choice: ['Choices', 'Default'],
  Wait: ['Seconds', 'SecondsPath', 'Next', 'End'],
  Pass: ['Next', 'End'],
  Succeed: ['OutputPath'],
  Fail: ['Error', 'ErrorPath', 'Cause', 'CausePath'],
  Map: [
    ...['ItemProcessor', 'ItemsPath', 'MaxConcurrency', 'Label', 'ToleratedFailurePercentage'],
    ...['ResultSelector', 'ResultPath', 'OutputPath', 'Retry', 'Catch', 'Next', 'End'],
  ],
} as const satisfies Record<string, readonly string[]>;

export type StateType = keyof typeof FIELDS;

const RULE_FIELDS = ['Variable', 'StringEquals', 'Next'];

/** A state of a definition. */
export interface State {
  name: string;
  type: StateType;
  fields: Fields;
  /** Whether a Task ends when its token is returned, not when its call is answered. */
  waitsForToken: boolean;
  /** Of a Map. */
  processor?: Definition;
  /** Of a Map in distributed mode. */
  distributed?: DistributedMap;
}

/** A definition, or the states within a Map. */
export interface Definition {
  startAt: string;
  states: ReadonlyMap<string, State>;
  /** Of the whole execution. */
  timeoutSeconds?: number;
}

/** Every state of a definition, those within Maps included. */
export const statesOf = (definition: Definition): State[] =>
  [...definition.states.values()].flatMap((state) => [
    state,
    ...(state.processor ? statesOf(state.processor) : []),
  ]);

type Json = Record<string, unknown>;

const asJson = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const listIn = (value: unknown): Json[] => (Array.isArray(value) ? value.map(asJson) : []);

/** Throws for a path that does not run locally. */
const checkPaths = (value: unknown, field = ''): void => {
  if (typeof value === 'string') {
    if (field.endsWith('.$') || field.endsWith('Path') || field === 'Variable') readPath(value);
  } else if (Array.isArray(value)) {
    for (const part of value) checkPaths(part);
  } else {
    for (const [name, part] of Object.entries(asJson(value))) checkPaths(part, name);
  }
};

/** Every state that a state can go to. */
const targetsOf = (state: Json): unknown[] =>
  [state, ...listIn(state.Choices), ...listIn(state.Catch)]
    .flatMap(({ Next, Default }) => [Next, Default])
    .filter((target) => target !== undefined);

const checkFields = (part: Json, known: readonly string[]): void => {
  const unknown = Object.keys(part).find((field) => field !== 'Comment' && !known.includes(field));
  if (unknown !== undefined) throw new Error(`${unknown} cannot be run locally`);
};

const check = ({ Type, ItemProcessor, ...state }: Json, names: ReadonlySet<string>): void => {
  const fields = Object.hasOwn(FIELDS, String(Type)) ? FIELDS[Type as StateType] : undefined;
  if (!fields) throw new Error(`a state of type ${Type} cannot be run locally`);
  checkFields(state, fields);
  for (const rule of listIn(state.Choices)) checkFields(rule, RULE_FIELDS);
  const twice = ['Error', 'Cause'].find((field) => field in state && `${field}Path` in state);
  if (twice !== undefined) throw new Error(`it has both ${twice} and ${twice}Path`);
  const missing = targetsOf(state).find((target) => !names.has(String(target)));
  if (missing !== undefined) throw new Error(`it leads to "${missing}", which is not there`);
  checkPaths(state);
};

const RESOURCE = /^arn:aws:states:::lambda:invoke(\.waitForTaskToken)?$/;

const readState = (name: string, state: Json, seen: Set<string>): State => {
  const fields = state as Fields;
  const type = state.Type as StateType;
  if (type === 'Task') {
    const [resource, suffix] = RESOURCE.exec(String(state.Resource)) ?? [];
    if (resource === undefined) throw new Error(`${state.Resource} cannot be run locally`);
    readTimeout(fields.TimeoutSeconds);
    return { name, type, fields, waitsForToken: suffix !== undefined };
  }
  if (type !== 'Map') return { name, type, fields, waitsForToken: false };
  const distributed = readDistributedMap(name, state);
  // The states of an item's execution have names of their own.
  const processor = readStates(asJson(state.ItemProcessor), distributed ? new Set<string>() : seen);
  return { name, type, fields, waitsForToken: false, processor, ...(distributed && { distributed }) };
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
 * Reads ASL text (JSONPath). Throws `TemplateError`, naming the state, when a target does not exist or something cannot run locally.
 */
export const readDefinition = (machineName: string, text: string): Definition => {
  try {
    const definition = asJson(JSON.parse(text));
    checkFields(definition, ['StartAt', 'States', 'TimeoutSeconds']);
    const { TimeoutSeconds } = definition;
    return {
      ...readStates(definition, new Set()),
      ...(typeof TimeoutSeconds === 'number' && { timeoutSeconds: TimeoutSeconds }),
    };
  } catch (cause) {
    throw new TemplateError(`State machine ${machineName}: ${messageOf(cause)}`, { cause });
  }
};
