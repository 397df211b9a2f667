import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What became of the table that the last release left. */
export interface Continued {
  /** How many of its requests were unfinished. */
  open: number;
  /** The statuses of reads of its requests, and of lists. */
  answers: Record<string, number[]>;
  /** Items that could not be read. */
  unreadable: number;
  /** Problems of its ledger once all requests have ended. */
  problems: string[];
  /** Webhooks of the unfinished requests. */
  told: number;
}

/** How requests ended that a deployment of another release's definitions met. */
export interface Crossed {
  /** The states of the executions that ran then. */
  running: string[];
  /** The most releases whose definitions executions ran on at once. */
  releasesAtOnce: number;
  statuses: string[];
  executions: string[];
  /** Webhooks that were taken. */
  told: number;
}

/** Deployments of another release while requests are under way, and of two of them, one after the other. */
export const DIRECTIONS = ['forward', 'back', 'twice forward', 'twice back'] as const;
export type Direction = (typeof DIRECTIONS)[number];

const PROGRAM = fileURLToPath(new URL('continue.ts', import.meta.url));

/** Plays this release after the last one. In a process of its own, which has no real clock and network; takes some 10 s. */
export const continueLastRelease = async (): Promise<{ table: Continued } & Record<Direction, Crossed[]>> => {
  const args = ['--disable-warning=ExperimentalWarning', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
};
