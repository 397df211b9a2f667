import { readFileSync, writeFileSync } from 'node:fs';

/** Starts a sandbox on this port; 0 takes any free one. */
type Start<Sandbox> = (port: number) => Promise<Sandbox>;

/**
 * Starts the sandbox on the port of an earlier run, kept in `file`, or on any free port. A task is queried at the
 * address where it was created: for a task of an earlier run, the sandbox at that port must answer that the task is
 * unknown.
 */
export const startSandboxWhereItWas = async <Sandbox extends { url: string }>(
  start: Start<Sandbox>,
  file: string,
): Promise<Sandbox> => {
  const sandbox = await startOn(start, earlierPort(file));
  writeFileSync(file, new URL(sandbox.url).port);
  return sandbox;
};

const startOn = async <Sandbox>(start: Start<Sandbox>, port: number): Promise<Sandbox> => {
  try {
    return await start(port);
  } catch (error) {
    if (port === 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return start(0);
  }
};

/** The port in the file; 0, which means any, when there is none. */
const earlierPort = (file: string): number => {
  try {
    const port = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
};
