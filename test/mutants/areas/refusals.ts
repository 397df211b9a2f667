import { bugs } from '../mutant.ts';

/** Bugs in what a provider's refusal means, and in what a caller is told of it. */
export const REFUSALS = bugs('refusals', [
  [
    'a code of a decision within a message is passed over',
    'providers/error-classes.ts',
    'return decision ?? rows.find',
    'return rows.find',
  ],
  [
    'a 5xx that is called throttling is made again',
    'providers/error-classes.ts',
    "if (isBusy && status !== undefined && status >= 500 && !isNotTaken) return 'error';",
    '',
  ],
  [
    'a quota of another status than 429 is waited out',
    'providers/error-classes.ts',
    "found === 'quota' && status !== 429 ? 'access' : found",
    'found',
  ],
  [
    'a documented throttling counts as an open outcome',
    'providers/error-classes.ts',
    'row?.notTakenAt?.includes(status) === true',
    'false',
  ],
  [
    'a status of no known meaning blames the input',
    'providers/error-classes.ts',
    "includes(status) ? 'input' : 'error'",
    "includes(status) || status < 500 ? 'input' : 'error'",
  ],
  [
    'a refused input counts against the route',
    'providers/failures.ts',
    'isOfInput(errorClass) ? { blamesInput: true } : {}',
    '{}',
  ],
  [
    'an answer that cannot be read is waited for until the deadline',
    'providers/failures.ts',
    'if (error === undefined && !saysLater(status)) return unreadTask(provider);',
    '',
  ],
  [
    'a task in a state that is not known is waited for until the deadline',
    'providers/modelark/modelark.ts',
    "return unknownState('modelark', status);",
    "return { kind: 'waiting' };",
  ],
  [
    'the list names a task in a state that is not known as unfinished',
    'providers/modelark/task-list.ts',
    "taskStateOf(status) === 'unfinished'",
    "(taskStateOf(status) ?? 'unfinished') === 'unfinished'",
  ],
  [
    'the error that a gateway wraps is not found',
    'providers/error-bodies.ts',
    'if (inner) return inner;',
    '',
  ],
  [
    'a refused output is told as the request',
    'providers/failures.ts',
    'if (isOfOutput) return REFUSED_OUTPUT;',
    '',
  ],
  [
    'the first error of fal counts before a content decision',
    'providers/fal/results.ts',
    "told.find(({ type }) => type === 'content_policy_violation') ?? told[0]",
    'told[0]',
  ],
  [
    'a key that cannot be read voids the set',
    'providers/fal/webhooks.ts',
    'if (!key) return [];',
    "if (!key) throw new Error('odd');",
  ],
  [
    'a field that an upstream model does not take is left out in silence',
    'providers/http-provider.ts',
    'return untaken === undefined ? plan : { mode: plan.mode, calls: [], untaken };',
    'return plan;',
  ],
  [
    'an input is named by the shorter of two URLs',
    'core/ending/name-input.ts',
    'withoutQuery(other.url).length - withoutQuery(one.url).length',
    'withoutQuery(one.url).length - withoutQuery(other.url).length',
  ],
  [
    "a caller's slow file pauses the end-user",
    'core/ending/write-end.ts',
    ' || state.error.input) return [];',
    ') return [];',
  ],
  [
    'the record has what is stored of a refused input',
    'core/requests/render-record.ts',
    'error: { code: error.code, message: error.message }',
    'error',
  ],
]);
