import { describe, expect, test } from '@jest/globals';
import type { Mutant } from '../../mutants/mutant.ts';
import { type Findings, missedGoals, type Scored, tableOf, writtenSection } from '../../mutants/report.ts';
import {
  type Finding,
  jestFinding,
  lintFinding,
  SUITES,
  simulationFinding,
  typesFinding,
} from '../../mutants/suites.ts';

const aMutant = (name: string): Mutant => ({
  name,
  area: 'money',
  file: 'core/x.ts',
  before: 'a',
  after: 'b',
  plantedIn: () => 'b',
});
const noticed = (where: string): Finding => ({ result: 'noticed', where, broken: '' });
const UNNOTICED: Finding = { result: 'unnoticed', where: '-', broken: '' };
const scored = (name: string, findings: Findings): Scored => ({ mutant: aMutant(name), findings });

/** How a suite ended, by its exit code and what it printed. */
const ended = (exitCode: number, text: string, timedOut = false) => ({ exitCode, text, timedOut });

describe('the finding of a suite', () => {
  test.each<[string, Finding, Finding]>([
    [
      'a simulation that fails: the run that it names',
      simulationFinding(
        ended(1, 'Run 12 failed; made smaller 0 times:\nseed 5\nWhat is wrong:\n  2 debits of img_1\n'),
      ),
      { result: 'noticed', where: '12', broken: '2 debits of img_1' },
    ],
    ['a simulation that passes', simulationFinding(ended(0, '2000 runs')), UNNOTICED],
    [
      'a jest run that fails: the test that it names',
      jestFinding(ended(1, 'FAIL unit test/unit/core/x.test.ts\n  ● x › refunds\n')),
      { result: 'noticed', where: 'test/unit/core/x.test.ts', broken: 'x › refunds' },
    ],
    [
      'the linter: the line that it names',
      lintFinding(ended(1, 'core/x.ts:3:5 lint/nursery/noFloatingPromises ━━━\n  × A promise\n')),
      { result: 'noticed', where: 'core/x.ts:3', broken: 'noFloatingPromises' },
    ],
    [
      'the compiler: the line that it names',
      typesFinding(ended(2, "core/x.ts(3,5): error TS2322: Type 'number' is not assignable.\n  More.\n")),
      { result: 'noticed', where: 'core/x.ts:3', broken: 'TS2322' },
    ],
    ['the compiler that has nothing to say', typesFinding(ended(0, '')), UNNOTICED],
    ['the linter that has nothing to say', lintFinding(ended(0, 'Checked 1 file')), UNNOTICED],
  ])('of %s', (_suite, found, expected) => {
    expect(found).toEqual(expected);
  });

  test.each<[string, Finding, string]>([
    [
      'a simulation that does not load',
      simulationFinding(ended(1, 'SyntaxError: x\n')),
      'error: SyntaxError: x',
    ],
    ['one that does not end', simulationFinding(ended(1, '500 runs\n', true)), 'error: did not end in time'],
    ['a jest run without a test file', jestFinding(ended(1, 'No tests found')), 'error: No tests found'],
    ['a compiler that does not end', typesFinding(ended(1, '', true)), 'error: did not end in time'],
    ['a linter that cannot run', lintFinding(ended(1, 'no configuration')), 'error: no configuration'],
  ])('is an error of %s', (_suite, found, where) => {
    expect(found).toMatchObject({ result: 'error', where });
  });
});

describe('the score', () => {
  const found = Array.from({ length: 7 }, (_, index) =>
    scored(`bug ${index}`, { simulation: noticed('3'), unit: UNNOTICED }),
  );

  test('is reached when the simulation notices 7 of 8 and a test notices the other', () => {
    const other = scored('other', { simulation: UNNOTICED, unit: noticed('test/unit/x.test.ts') });

    expect(missedGoals([...found, other], SUITES)).toEqual([]);
  });

  test('is missed when nothing notices a bug', () => {
    const other = scored('other', { simulation: UNNOTICED, unit: UNNOTICED });

    expect(missedGoals([...found, other], SUITES)).toEqual(['Nothing notices: other.']);
  });

  test('is missed when the simulation notices fewer than 7 of 8', () => {
    const others = [1, 2].map((index) => scored(`other ${index}`, { unit: noticed('x.test.ts') }));

    expect(missedGoals([...found.slice(1), ...others], SUITES)).toEqual([
      'The simulation notices 6 of 8, and should notice 7.',
    ]);
  });

  test('is missed when a suite could not run', () => {
    const broken: Finding = { result: 'error', where: 'error: did not end in time', broken: '' };
    const other = scored('other', { unit: broken, workflow: noticed('x.test.ts') });

    expect(missedGoals([other], ['unit', 'workflow'])).toEqual(['other: error: did not end in time']);
  });

  test('is a table of where each suite noticed each bug', () => {
    const mutants = [
      scored('a bug', { simulation: noticed('3'), unit: noticed('test/unit/core/x.test.ts') }),
    ];

    expect(tableOf(mutants, ['simulation', 'unit'])).toBe(
      ['| area | bugs | simulation | unit |', '| --- | ---: | ---: | ---: |', '| money | 1 | 1 | 1 |'].join(
        '\n',
      ),
    );
  });

  test('is a section with how many bugs each suite noticed', () => {
    const score = [...found, scored('other', { simulation: UNNOTICED })];
    const section = writtenSection(score, ['simulation'], { runs: 2000, seed: 1 });

    expect(section).toContain('Of 8 bugs simulation notices 7, and nothing 1.');
    expect(tableOf(score, ['simulation'])).toContain('| money | 8 | 7 |');
  });
});
