import { describe, expect, test } from '@jest/globals';
import { candidatesOf } from '../../mutants/drawn/candidates.ts';
import { CODE_RULES, type RuleName, STATE_MACHINE_RULES } from '../../mutants/drawn/rules.ts';

const plantedBy = (file: string, rule: RuleName, text: string): string[] =>
  candidatesOf({ file, text })
    .filter((candidate) => candidate.rule === rule)
    .map(({ plantedIn }) => plantedIn(text).replace(/\s+/g, ' '));

/** A write with that condition and those values. */
const written = (condition: string, values: string): string =>
  `write({ ConditionExpression: ${condition}, ExpressionAttributeValues: ${values} });`;

const CODE: [RuleName, string, string[]][] = [
  [
    'clause of a condition dropped',
    written("'a = :a AND (b = :b OR begins_with(c, :c))'", "{ ':a': 1, ':b': 2, ':c': 3 }"),
    [
      written("'(b = :b OR begins_with(c, :c))'", "{ ':b': 2, ':c': 3 }"),
      written("'a = :a'", "{ ':a': 1, }"),
      written("'a = :a AND (begins_with(c, :c))'", "{ ':a': 1, ':c': 3 }"),
      written("'a = :a AND (b = :b)'", "{ ':a': 1, ':b': 2 }"),
    ],
  ],
  [
    'clause of a condition dropped',
    "query({ KeyConditionExpression: 'PK = :p AND SK BETWEEN :first AND :last' });",
    ["query({ KeyConditionExpression: 'PK = :p' });"],
  ],
  ['clause of a condition dropped', "const FREE = ' AND b = :b';", ["const FREE = '';"]],
  [
    'clause of a condition dropped',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template
    'const IDLE = `a = :a AND b = :b${more}`;',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template
    ['const IDLE = `b = :b${more}`;', 'const IDLE = `a = :a${more}`;'],
  ],
  [
    'condition of a write dropped',
    "write({ ConditionExpression: 'a = :a', UpdateExpression: 'SET b = :b', ExpressionAttributeValues: { ':a': 1, ':b': 2 } });",
    ["write({ UpdateExpression: 'SET b = :b', ExpressionAttributeValues: { ':b': 2 } });"],
  ],
  ['condition of a write dropped', written("'a = :a'", "{ ':a': 1 }"), ['write({ });']],
  [
    'attribute of an update dropped',
    "write({ UpdateExpression: 'SET a = :a, b = f(b, :a) REMOVE c' });",
    [
      "write({ UpdateExpression: 'SET b = f(b, :a) REMOVE c' });",
      "write({ UpdateExpression: 'SET a = :a REMOVE c' });",
      "write({ UpdateExpression: 'SET a = :a, b = f(b, :a)' });",
    ],
  ],
  [
    'comparison in a condition changed',
    "const X = 'a <= :a AND b = :b';",
    ["const X = 'a < :a AND b = :b';", "const X = 'a <= :a AND b <> :b';"],
  ],
  ['comparison in a condition changed', "write({ UpdateExpression: ['a = :a'].join(', ') });", []],
  ['guard dropped', 'for (;;) { if (a) break; b(); }', ['for (;;) { {} b(); }']],
  ['guard dropped', 'if (a) b();', []],
  ['branch forced', 'x(a ? b : c);', ['x((b));', 'x((c));']],
  ['branch forced', 'if (a) b(); else c();', ['if (true) b(); else c();', 'if (false) b(); else c();']],
  ['branch forced', 'if (a) b();', ['{}']],
  ['operand dropped', 'x(a && b);', ['x(a);', 'x(b);']],
  ['operand dropped', 'x(a ?? b);', []],
  ['boundary moved', 'x(a < b);', ['x(a <= b);']],
  ['condition reversed', 'x(a === b);', ['x(a !== b);']],
  ['condition reversed', 'x(!a);', ['x(a);']],
  ['calculation reversed', 'x(a - b);', ['x(a + b);']],
  ['calculation reversed', "x(a + 'b');", []],
  ['calculation reversed', 'x(Math.min(a));', ['x(Math.max(a));']],
  ['call dropped', 'await a(); const b = await c();', ['{} const b = await c();']],
  ['step dropped', 'a(); logger.info(b); c = 1;', ['{} logger.info(b); c = 1;', 'a(); logger.info(b); {}']],
  [
    'write of a transaction dropped',
    'transact([aWrite(), { Put: b }, c]);',
    ['transact([ { Put: b }, c]);', 'transact([aWrite(), c]);'],
  ],
  ['effects reordered', '{ await a(); await b(); }', ['{ await b(); await a(); }']],
  ['effects reordered', '{ const a = await b(); await c(a); }', []],
  ['await dropped', 'await a(); const b = await c();', ['a(); const b = await c();']],
  ['all and allSettled swapped', 'x = await Promise.allSettled(a);', ['x = await Promise.all(a);']],
  ['all and allSettled swapped', 'await Promise.all(a);', ['await Promise.allSettled(a);']],
  ['all and allSettled swapped', 'x = await Promise.all(a);', []],
  [
    'catch changed',
    'try { a(); } catch (error) { b(); throw error; }',
    ['try { a(); } catch (error) { throw error; }', 'try { a(); } catch (error) { b(); {} }'],
  ],
  ['finally dropped', 'try { a(); } finally { b(); }', ['try { a(); } finally {}']],
  ['option dropped', 'read({ Key: a, ConsistentRead: true });', ['read({ Key: a });']],
  ['attempts changed', 'const MAX_ATTEMPTS = 4;', ['const MAX_ATTEMPTS = 1;', 'const MAX_ATTEMPTS = 1_000;']],
  [
    'constant of a list dropped',
    "const A_LIST = new Set(['a', 'b']);",
    ["const A_LIST = new Set([ 'b']);", "const A_LIST = new Set(['a']);"],
  ],
  ['errors widened', 'x(error instanceof A);', ['x(true);']],
  ['errors widened', 'x(!(error instanceof A));', ['x(false);']],
  ['errors widened', 'x(A_LIST.has(b));', ['x(true);']],
];

const STATES: [RuleName, string, string[]][] = [
  [
    'handled errors changed',
    '{"A": {"Type": "Task", "Retry": [{"ErrorEquals": ["X", "Y"]}], "End": true}}',
    [
      '{"A": {"Type": "Task", "End": true}}',
      '{"A": {"Type": "Task", "Retry": [{"ErrorEquals": [ "Y"]}], "End": true}}',
      '{"A": {"Type": "Task", "Retry": [{"ErrorEquals": ["X"]}], "End": true}}',
      '{"A": {"Type": "Task", "Retry": [{"ErrorEquals": ["States.ALL"]}], "End": true}}',
    ],
  ],
  ['times of a retry changed', '{"MaxAttempts": 3}', ['{"MaxAttempts": 0}', '{"MaxAttempts": 100000}']],
  ['time limit of a state dropped', '{"Type": "Task", "TimeoutSeconds": 3}', ['{"Type": "Task"}']],
  [
    'choice dropped',
    '{"Choices": [{"Next": "A"}, {"Next": "B"}]}',
    ['{"Choices": [ {"Next": "B"}]}', '{"Choices": [{"Next": "A"}]}'],
  ],
  [
    'task skipped',
    '{"StartAt": "A", "States": {"A": {"Type": "Task", "Next": "B"}, "B": {"Type": "Succeed"}}}',
    ['{"StartAt": "B", "States": {"A": {"Type": "Task", "Next": "B"}, "B": {"Type": "Succeed"}}}'],
  ],
];

describe('the rules for code', () => {
  test.each(CODE)('%s: %s', (rule, source, planted) => {
    expect(plantedBy('core/x.ts', rule, source)).toEqual(planted);
  });

  test('each have an example', () => {
    expect(new Set(CODE.map(([rule]) => rule))).toEqual(new Set(Object.keys(CODE_RULES)));
  });

  test('leave types, imports and what is logged as they are', () => {
    const text =
      "import { a } from 'b AND c'; type A = 'd AND e'; logger.info('f', { g: h && i, j: k === l });";

    expect(candidatesOf({ file: 'core/x.ts', text })).toEqual([]);
  });
});

describe('the rules for state machines', () => {
  test.each(STATES)('%s: %s', (rule, source, planted) => {
    expect(plantedBy('statemachines/x.asl.json', rule, source)).toEqual(planted);
  });

  test('each have an example', () => {
    expect(new Set(STATES.map(([rule]) => rule))).toEqual(new Set(Object.keys(STATE_MACHINE_RULES)));
  });
});
