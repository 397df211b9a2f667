type Json = Record<string, unknown>;

/**
 * The longest timer of Node.js, about 24.8 days, in seconds. Also the time limit of a task without `TimeoutSeconds`: the interpreter's
 * default is 60 s, Step Functions has none.
 */
export const MAX_TIMER_SECONDS = 2_147_483;

/** Type tests of a Choice rule. The interpreter takes `false` for one as never true. */
const TYPE_TESTS = ['IsPresent', 'IsNull', 'IsNumeric', 'IsString', 'IsBoolean', 'IsTimestamp'];

/** Fields that hold states themselves or literal values. */
const LEFT_ALONE = new Set(['ItemProcessor', 'Iterator', 'Branches', 'Result', 'Comment']);

const isPathField = (field: string): boolean =>
  field.endsWith('.$') || field.endsWith('Path') || field === 'Variable';

/**
 * Points `$$.Execution` and `$$.State` at our own objects: the interpreter overwrites the first in every branch and iteration, and lacks
 * the second.
 */
const redirectContext = (value: unknown, contextName: string, field = ''): unknown => {
  if (typeof value === 'string' && isPathField(field)) {
    return value
      .replace(/\$\$\.Execution\b/g, '$$$$.CurrentExecution')
      .replace(/\$\$\.State\b/g, `$$$$.CurrentStates.${contextName}`);
  }
  if (Array.isArray(value)) return value.map((one) => redirectContext(one, contextName));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      LEFT_ALONE.has(key) && field === '' ? one : redirectContext(one, contextName, key),
    ]),
  );
};

/** Rewrites `IsPresent: false` (and its like) as `Not` of `IsPresent: true`, at any depth. */
const rewriteRule = (rule: unknown): unknown => {
  if (Array.isArray(rule)) return rule.map(rewriteRule);
  if (typeof rule !== 'object' || rule === null) return rule;
  const rewritten: Json = Object.fromEntries(
    Object.entries(rule).map(([key, value]) => [
      key,
      ['And', 'Or', 'Not'].includes(key) ? rewriteRule(value) : value,
    ]),
  );
  const test = TYPE_TESTS.find((name) => rewritten[name] === false);
  if (test === undefined) return rewritten;
  const { Next, ...rest } = rewritten;
  return { Not: { ...rest, [test]: true }, ...(Next === undefined ? {} : { Next }) };
};

/** `States.Timeout` also stands for a missed heartbeat. */
const widenTimeouts = (entries: unknown): unknown =>
  Array.isArray(entries)
    ? entries.map((entry: Json) =>
        Array.isArray(entry.ErrorEquals) && entry.ErrorEquals.includes('States.Timeout')
          ? { ...entry, ErrorEquals: [...entry.ErrorEquals, 'States.HeartbeatTimeout'] }
          : entry,
      )
    : entries;

/** A value from a field, or from the path in `<field>Path`. */
const valueOrPath = (state: Json, field: string, as: string): Json => {
  if (state[`${field}Path`] !== undefined) return { [`${as}.$`]: state[`${field}Path`] };
  return state[field] === undefined ? {} : { [as]: state[field] };
};

/** Gives a Task's handler an envelope: its parameters, and limits read from the state's input. */
const prepareTask = (state: Json): Json => {
  const { Parameters, TimeoutSeconds, TimeoutSecondsPath, HeartbeatSecondsPath, ...rest } = state;
  const timeout =
    TimeoutSecondsPath === undefined
      ? { TimeoutSeconds: Math.min(Number(TimeoutSeconds ?? MAX_TIMER_SECONDS), MAX_TIMER_SECONDS) }
      : { TimeoutSecondsPath: '$.timeoutSeconds' };
  return {
    ...rest,
    ...timeout,
    Parameters: {
      ...(Parameters === undefined ? { 'parameters.$': '$' } : { parameters: Parameters }),
      ...(TimeoutSecondsPath === undefined ? {} : { 'timeoutSeconds.$': TimeoutSecondsPath }),
      ...valueOrPath({ ...state, HeartbeatSecondsPath }, 'HeartbeatSeconds', 'heartbeatSeconds'),
    },
  };
};

/** Makes a Wait a task of ours: the interpreter's own ends at once when it exceeds Node's longest timer. */
const prepareWait = (state: Json): Json => {
  const { Seconds: _s, SecondsPath: _sp, Timestamp: _t, TimestampPath: _tp, ...rest } = state;
  return {
    ...rest,
    Type: 'Task',
    TimeoutSeconds: MAX_TIMER_SECONDS,
    Parameters: {
      ...valueOrPath(state, 'Seconds', 'seconds'),
      ...valueOrPath(state, 'Timestamp', 'timestamp'),
      ...(state.InputPath === undefined ? {} : { 'input.$': '$' }),
    },
    // The output is the state's input, or the part that InputPath selects, which the handler returns.
    ...(state.InputPath === undefined ? { ResultPath: null } : {}),
  };
};

/** Makes a Fail with paths a task of ours: the interpreter does not evaluate intrinsic functions there. */
const prepareFail = (state: Json): Json =>
  state.ErrorPath === undefined && state.CausePath === undefined
    ? state
    : {
        Type: 'Task',
        End: true,
        TimeoutSeconds: MAX_TIMER_SECONDS,
        Parameters: { ...valueOrPath(state, 'Error', 'error'), ...valueOrPath(state, 'Cause', 'cause') },
      };

/** Moves a falsy Result to Parameters: the interpreter ignores it. */
const preparePass = (state: Json): Json => {
  if (!('Result' in state) || state.Result) return state;
  const { Result, ...rest } = state;
  return { ...rest, Parameters: Result };
};

/**
 * Rewrites a state so that `aws-local-stepfunctions` 3.0 runs it as Step Functions does. Nested states are left to the caller.
 */
export const prepareState = (original: Json, contextName: string): Json => {
  const state = redirectContext(original, contextName) as Json;
  // `$` is the default; the interpreter would set a field named "$".
  if (state.ResultPath === '$') delete state.ResultPath;
  for (const field of ['Retry', 'Catch']) if (field in state) state[field] = widenTimeouts(state[field]);
  switch (state.Type) {
    case 'Task':
      return prepareTask(state);
    case 'Wait':
      return prepareWait(state);
    case 'Fail':
      return prepareFail(state);
    case 'Pass':
      return preparePass(state);
    case 'Choice':
      return { ...state, Choices: rewriteRule(state.Choices) };
    default:
      return state;
  }
};
