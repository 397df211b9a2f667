import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const scriptsOf = (folder: string): [string, string][] => {
  const manifest = readFileSync(`${ROOT}/${folder}/package.json`, 'utf8');
  const { scripts } = JSON.parse(manifest) as { scripts: Record<string, string> };
  return Object.entries(scripts);
};

/** Every npm script that runs a program of this project: its name, its folder and the arguments of `node`. */
const PROGRAMS = ['.', 'packages/sandbox'].flatMap((folder) =>
  scriptsOf(folder)
    .filter(([, script]) => /\bnode .*[\w/]+\.ts$/.test(script))
    .map(([name, script]) => ({ name, folder, args: script.split(' ').slice(2) })),
);

/** Options without which a program looks at no other. */
const REQUIRED: Record<string, string[]> = {
  'rehearse:upgrade': ['--from', 'v0.1.0'],
  fixtures: ['--release', '0.1.0'],
};

const run = ({ folder, args }: (typeof PROGRAMS)[number], ...options: string[]) =>
  spawnSync(process.execPath, [...args, ...options], { cwd: `${ROOT}/${folder}`, encoding: 'utf8' });

test('The programs of all scripts are tried', () => {
  const names = PROGRAMS.map(({ name }) => name);
  for (const name of ['start', 'demo', 'ops', 'simulate', 'bench', 'rehearse:upgrade']) {
    expect(names).toContain(name);
  }
  expect(names.filter((name) => name === 'start')).toHaveLength(2);
});

describe.each(PROGRAMS)('$name of $folder', (program) => {
  test('says by --help how it is used, and does nothing else', () => {
    const { status, stdout, stderr } = run(program, '--help');

    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Usage: /);
    expect(stdout).not.toMatch(/^ +at /m);
  });

  test('refuses an unknown option in one line that names it', () => {
    // As near to a known one as a slip of the hand.
    const { status, stdout, stderr } = run(program, ...(REQUIRED[program.name] ?? []), '--hepl');

    expect(status).toBeGreaterThan(0);
    expect(stdout).toBe('');
    // The operators' commands have many options: another line says how to see them.
    const lines = stderr
      .replace(/\nAdd --help to see what can be given\.\n$/, '\n')
      .replace('\n(Did', ' (Did');
    expect(lines).toMatch(/^[^\n]*--hepl[^\n]*\n$/);
  });
});

test.each(['.', 'packages/sandbox'])(
  'The scripts of %s set no variable by a shell, and hand signals to their program',
  (folder) => {
    for (const [name, script] of scriptsOf(folder)) {
      expect([name, script]).toEqual([name, expect.not.stringMatching(/\b[A-Z_]+=/)]);
      // The shell that npm starts dies of a signal and leaves what it runs, unless the program takes its place.
      if (!script.includes('&&')) expect([name, script]).toEqual([name, expect.stringMatching(/^exec /)]);
    }
  },
);
