import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** `npm start` as a person runs it: npm, a process group of its own. */
export interface NpmProcess {
  child: ChildProcess;
  /** What it printed to standard error. */
  errors(): string;
  /** Resolves at a line that begins so; rejects when npm ends before. */
  line(beginning: string): Promise<string>;
  /** Processes that npm started, and that these started, which still run. */
  descendants(): number[];
  exited: Promise<number | NodeJS.Signals | null>;
}

/** Process ids of all processes, each with its parent's. */
const parents = (): Map<number, number> => {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,stat='], { encoding: 'utf8' }).trim().split('\n');
  const living = lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state]) => !state?.startsWith('Z'));
  return new Map(living.map(([pid, parent]) => [Number(pid), Number(parent)]));
};

/** Whether a process still runs. */
export const isRunning = (pid: number): boolean => parents().has(pid);

/** Runs `npm start` in a project with these arguments. */
export const startByNpm = (
  project: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): NpmProcess => {
  const child = spawn('npm', ['start', '--', ...args], {
    cwd: project,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const printed: string[] = [];
  const errors: string[] = [];
  const waiting: (() => void)[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
  createInterface({ input: child.stdout }).on('line', (line) => {
    printed.push(line);
    for (const wake of waiting.splice(0)) wake();
  });
  const exited = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('close', (code, signal) => resolve(signal ?? code)),
  );
  const line = async (beginning: string): Promise<string> => {
    for (;;) {
      const found = printed.find((text) => text.startsWith(beginning));
      if (found !== undefined) return found;
      const ended = await Promise.race([
        new Promise<false>((resolve) => waiting.push(() => resolve(false))),
        exited.then(() => true),
      ]);
      if (ended) throw new Error(`npm ended before "${beginning}": ${errors.join('')}`);
    }
  };
  const descendants = (): number[] => {
    const all = [...parents()];
    const found = new Set([child.pid]);
    // A parent may be listed after its child.
    for (let size = 0; size !== found.size; ) {
      size = found.size;
      for (const [pid, parent] of all) if (found.has(parent)) found.add(pid);
    }
    return [...found].filter((pid): pid is number => pid !== undefined && pid !== child.pid);
  };
  return { child, errors: () => errors.join(''), line, descendants, exited };
};
