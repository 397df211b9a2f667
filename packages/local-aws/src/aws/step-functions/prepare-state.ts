type Json = Record<string, unknown>;

/**
 * The longest a timer of Node can be set to, about 24.8 days, in seconds. The interpreter's own default for a task without
 * `TimeoutSeconds` is 60 s, where Step Functions has none.
 */
export const MAX_TIMER_SECONDS = 2_147_483;

/** Type tests of a Choice rule, of which the interpreter only ever finds the positive ones true. */
const TYPE_TESTS = ['IsPresent', 'IsNull', 'IsNumeric', 'IsString', 'IsBoolean', 'IsTimestamp'];

/** Parts of a state that are states themselves, or are taken as they are. */
const LEFT_ALONE = new Set(['ItemProcessor', 'Iterator', 'Branches', 'Result', 'Comment']);

const isPathField = (field: string): boolean =>
  field.endsWith('.$') || field.endsWith('Path') || field === 'Variable';

/**
 * Points `$$.Execution` and `$$.State` at objects of ours: the interpreter overwrites the first in every branch and iteration (with that
 * part's input and the present time) and does not have the second.
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

/** `IsPresent: false` as `Not` of `IsPresent: true`, wherever it is nested. */
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

/** A value given by a field, or by the path in `<field>Path`. */
const valueOrPath = (state: Json, field: string, as: string): Json => {
  if (state[`${field}Path`] !== undefined) return { [`${as}.$`]: state[`${field}Path`] };
  return state[field] === undefined ? {} : { [as]: state[field] };
};

/** A Task's handler gets its parameters in an envelope, with what else has to be read from the state's input. */
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

/** A Wait becomes a task of ours: the interpreter's ends at once when it is longer than a timer can be set to. */
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
    // The state's input goes on; behind an InputPath that is what the path chose, which the handler hands back.
    ...(state.InputPath === undefined ? { ResultPath: null } : {}),
  };
};

/** A Fail with paths becomes a task of ours, because the interpreter does not evaluate intrinsic functions there. */
const prepareFail = (state: Json): Json =>
  state.ErrorPath === undefined && state.CausePath === undefined
    ? state
    : {
        Type: 'Task',
        End: true,
        TimeoutSeconds: MAX_TIMER_SECONDS,
        Parameters: { ...valueOrPath(state, 'Error', 'error'), ...valueOrPath(state, 'Cause', 'cause') },
      };

/** The interpreter ignores a Result that is false, 0, empty or null. */
const preparePass = (state: Json): Json => {
  if (!('Result' in state) || state.Result) return state;
  const { Result, ...rest } = state;
  return { ...rest, Parameters: Result };
};

/**
 * Rewrites a state so that `aws-local-stepfunctions` 3.0 gives it the meaning Step Functions does. Nested states are left to the caller.
 */
export const prepareState = (original: Json, contextName: string): Json => {
  const state = redirectContext(original, contextName) as Json;
  // `$` is what the field stands for when it is absent; the interpreter would set a field named "$".
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
