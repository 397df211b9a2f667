import { describe, expect, test } from '@jest/globals';
import { candidatesOf, draw, readSources } from '../../mutants/drawn/candidates.ts';
import { EQUIVALENTS } from '../../mutants/drawn/equivalents.ts';
import { drawnSection, finderOf, scoreText, survivorsOf } from '../../mutants/drawn/report.ts';
import { nearnessOf } from '../../mutants/nearest-first.ts';
import { ROOT } from '../../mutants/plant.ts';
import type { Finding } from '../../mutants/suites.ts';

const SOURCES = readSources(ROOT, ['core', 'functions', 'providers', 'statemachines']);
const ALL = SOURCES.flatMap(candidatesOf);
/** A twentieth of all, for draws from any bugs: a draw ranks each that is given. */
const SOME = ALL.filter((_, index) => index % 20 === 0);

describe('the drawn bugs', () => {
  test('have names of their own, each with its file and line', () => {
    expect(new Set(ALL.map(({ name }) => name)).size).toBe(ALL.length);
    const [first] = candidatesOf({ file: 'core/x.ts', text: 'const f = () => {\n  if (a) return;\n};\n' });

    expect(first).toMatchObject({
      name: 'guard dropped in core/x.ts f: no if (a) return;',
      file: 'core/x.ts',
      line: 2,
    });
  });

  test('that look the same in one declaration are told apart by a number', () => {
    const text = 'const f = () => { if (a) return; if (b) c(); if (a) return; };';

    expect(
      candidatesOf({ file: 'core/x.ts', text })
        .filter(({ rule }) => rule === 'guard dropped')
        .map(({ name }) => name),
    ).toEqual([
      'guard dropped in core/x.ts f: no if (a) return;',
      'guard dropped in core/x.ts f: no if (a) return; #2',
    ]);
  });

  test('are the same for a seed, and others for another', () => {
    const names = (count: number, seed: string): string[] => draw(SOME, count, seed).map(({ name }) => name);

    expect(names(20, '1')).toEqual(names(20, '1'));
    expect(names(30, '1').slice(0, 20)).toEqual(names(20, '1'));
    expect(names(20, '2')).not.toEqual(names(20, '1'));
  });

  test('are of many rules: none has more than a sixth', () => {
    const drawn = Map.groupBy(draw(ALL, 200, '1'), ({ rule }) => rule);

    expect(drawn.size).toBeGreaterThan(20);
    expect(Math.max(...[...drawn.values()].map(({ length }) => length))).toBeLessThan(200 / 6);
  });

  test('are of the chosen files alone', () => {
    expect(readSources(ROOT, ['core/money.ts', 'core/audit']).map(({ file }) => file)).toEqual([
      'core/audit/audit.ts',
      'core/money.ts',
    ]);
  });

  test('have findings for the text of their file alone', () => {
    const [before, after] = ['if (a) b();', 'if (a) b(); c();'].map(
      (text) => candidatesOf({ file: 'core/x.ts', text })[0],
    );

    expect(before?.name).toBe(after?.name);
    expect(before?.hash).not.toBe(after?.hash);
  });

  test('that change nothing are still among them', () => {
    const names = new Set(ALL.map(({ name }) => name));

    expect([...EQUIVALENTS.keys()].filter((name) => !names.has(name))).toEqual([]);
  });
});

const NOTICED: Finding = { result: 'noticed', where: 'x.test.ts', broken: 'a test' };
const UNNOTICED: Finding = { result: 'unnoticed', where: '-', broken: '' };
const ERROR: Finding = { result: 'error', where: 'error: did not end in time', broken: '' };

describe('the score of drawn bugs', () => {
  const [a, b, c, d] = draw(SOME, 4, '1');
  if (!a || !b || !c || !d) throw new Error('Four bugs can be drawn.');
  const score = [
    { candidate: a, findings: { unit: NOTICED }, equivalent: undefined },
    { candidate: b, findings: { unit: UNNOTICED, workflow: ERROR }, equivalent: undefined },
    {
      candidate: c,
      findings: { unit: UNNOTICED, workflow: UNNOTICED, simulation: UNNOTICED },
      equivalent: undefined,
    },
    { candidate: d, findings: {}, equivalent: 'It changes nothing.' },
  ];

  test('counts who found them, and those that change nothing apart', () => {
    expect(score.map(({ findings }) => finderOf(findings))).toEqual([
      'unit',
      'workflow',
      undefined,
      undefined,
    ]);
    expect(scoreText(score)).toContain('Of 4 drawn changes, 1 change nothing');
    expect(scoreText(score)).toContain('a score of 67 %');
  });

  test('names those that nothing found', () => {
    expect(survivorsOf(score).map(({ candidate }) => candidate)).toEqual([c]);
    expect(drawnSection(score, '--drawn 4 --seed 1')).toContain(`- \`${c.name.replaceAll('`', "'")}\``);
  });
});

test('the tests of a changed file are run before others', () => {
  const near = nearnessOf('/x/test/unit/core/accounts/api-keys.test.ts', ['core/accounts/api-keys.ts']);
  const far = nearnessOf('/x/test/unit/core/ledger/ledger.test.ts', ['core/accounts/api-keys.ts']);

  expect(near).toBeGreaterThan(far);
});
