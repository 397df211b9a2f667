import { describe, expect, test } from '@jest/globals';
import type { Mutant } from '../../mutants/mutant.ts';
import { type Findings, missedGoals, type Scored, tableOf, writtenSection } from '../../mutants/report.ts';
import { type Finding, jestFinding, lintFinding, SUITES, simulationFinding } from '../../mutants/suites.ts';

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

describe('a simulation', () => {
  test('that fails has noticed the bug in the run it names', () => {
    const text = 'Run 12 failed; made smaller 0 times:\nseed 5\nWhat is wrong:\n  2 debits of img_1\n';

    expect(simulationFinding({ exitCode: 1, text, timedOut: false })).toEqual({
      result: 'noticed',
      where: '12',
      broken: '2 debits of img_1',
    });
  });

  test('that passes has not noticed the bug', () => {
    expect(simulationFinding({ exitCode: 0, text: '2000 runs', timedOut: false })).toEqual(UNNOTICED);
  });

  test.each([
    ['does not load', { exitCode: 1, text: 'SyntaxError: x\n', timedOut: false }, 'error: SyntaxError: x'],
    ['does not end', { exitCode: 1, text: '500 runs\n', timedOut: true }, 'error: did not end in time'],
  ])('that %s is an error', (_, ended, where) => {
    expect(simulationFinding(ended)).toMatchObject({ result: 'error', where });
  });
});

describe('a jest run', () => {
  test('that fails has noticed the bug in the test file it names', () => {
    const text = 'FAIL unit test/unit/core/x.test.ts\n  ● x › refunds\n';

    expect(jestFinding({ exitCode: 1, text, timedOut: false })).toEqual({
      result: 'noticed',
      where: 'test/unit/core/x.test.ts',
      broken: 'x › refunds',
    });
  });

  test('that fails without a test file is an error', () => {
    expect(jestFinding({ exitCode: 1, text: 'No tests found', timedOut: false })).toMatchObject({
      result: 'error',
    });
  });
});

describe('the linter', () => {
  test('has noticed the bug in the line it names', () => {
    const text = 'core/x.ts:3:5 lint/nursery/noFloatingPromises ━━━\n  × A promise\n';

    expect(lintFinding({ exitCode: 1, text, timedOut: false })).toEqual({
      result: 'noticed',
      where: 'core/x.ts:3',
      broken: 'noFloatingPromises',
    });
  });

  test('that has nothing to say has not noticed the bug, and one that cannot run is an error', () => {
    expect(lintFinding({ exitCode: 0, text: 'Checked 1 file', timedOut: false })).toEqual(UNNOTICED);
    expect(lintFinding({ exitCode: 1, text: 'no configuration', timedOut: false })).toMatchObject({
      result: 'error',
    });
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
