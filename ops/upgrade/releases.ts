import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The sources of a release, with their packages, and its assembly. */
export interface Release {
  version: string;
  /** The checkout. */
  folder: string;
  /** The synthesized stack. */
  assembly: string;
}

/** Brings releases into an account. The output of the tools goes into a log, and the lines about a failure into its error. */
export interface Releases {
  /** Checks a commit out beside these sources, with its packages, and synthesizes it. */
  checkOut(commit: string): Promise<Release>;
  /** These sources, synthesized. */
  present(): Promise<Release>;
  /** Deploys by the release's own CDK toolkit. */
  deploy(release: Release): Promise<void>;
  destroy(release: Release): Promise<void>;
  /** Removes all that was made but the log. */
  remove(): Promise<void>;
}

/** Folders of the synthesized stacks: of the release, and of these sources. */
const ASSEMBLIES = ['assembly-from', 'assembly-to'] as const;

/** The context of both releases: stand-ins for the providers, and waits that a rehearsal can see. */
export type RehearsalContext = Readonly<Record<string, string>>;

/** The last lines of this kind are in the error of a tool that failed. */
const PROBLEM = /fail|fatal|error/i;
const LAST_LINES = 3;

/** Releases of the project in `root`, deployed as the stack of the context. Everything made is in `work`, an existing folder. */
export const createReleases = (root: string, work: string, context: RehearsalContext): Releases => {
  const log = join(work, 'log.txt');
  const checkout = join(work, 'from');
  const contextOptions = Object.entries(context).flatMap(([key, value]) => ['-c', `${key}=${value}`]);

  const cdk = (folder: string, ...args: string[]) =>
    run(log, folder, join(folder, 'node_modules', '.bin', 'cdk'), args);

  const synthesize = async (folder: string, name: string): Promise<Release> => {
    const assembly = join(work, name);
    await cdk(folder, 'synth', '--quiet', '--output', assembly, ...contextOptions);
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return { version, folder, assembly };
  };

  return {
    async checkOut(commit) {
      await run(log, root, 'git', ['worktree', 'add', '--detach', checkout, commit]);
      await run(log, checkout, 'npm', ['ci', '--no-audit', '--no-fund']);
      return synthesize(checkout, ASSEMBLIES[0]);
    },
    present: () => synthesize(root, ASSEMBLIES[1]),
    deploy: ({ folder, assembly }) =>
      cdk(folder, 'deploy', '--app', assembly, '--require-approval', 'never', '--ci', '--all'),
    destroy: ({ folder, assembly }) => cdk(folder, 'destroy', '--app', assembly, '--force', '--ci', '--all'),
    async remove() {
      for (const name of ASSEMBLIES) await rm(join(work, name), { recursive: true, force: true });
      await run(log, root, 'git', ['worktree', 'remove', '--force', checkout]);
    },
  };
};

/** Runs a tool in a folder, on the Node.js of that folder's packages where they have one. */
const run = (log: string, folder: string, command: string, args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const path = [join(folder, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...process.env, PATH: path },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const file = createWriteStream(log, { flags: 'a' });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes: Buffer) => {
        file.write(bytes);
        output += bytes.toString('utf8');
      });
    }
    child.on('error', reject);
    child.on('close', (status) => {
      const problems = output.split('\n').filter((line) => PROBLEM.test(line));
      const said = problems.slice(-LAST_LINES).join('\n');
      const failure = `${[command, ...args].join(' ')} ended with ${status}: ${said} All of it is in ${log}.`;
      // Not before the log is whole.
      file.end(() => (status === 0 ? resolve() : reject(new Error(failure))));
    });
  });
