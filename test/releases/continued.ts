import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Release } from '../simulation/world/aws/step-functions.ts';
import type { Recorded } from './recorded.ts';

/** What became of the table that another release left. */
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
  /** Entities whose items lost an attribute that this release does not know. */
  cut: string[];
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

/** Deployments while requests are under way: the releases one after the other. */
type Directions = Readonly<Record<string, readonly [Release, ...Release[]]>>;

/** The deployments beside another release. */
export const DIRECTIONS: Readonly<Record<'last' | 'next', Directions>> = {
  next: {
    forward: ['this', 'next'],
    back: ['next', 'this'],
    'forward and back': ['this', 'next', 'this'],
    'back and forward': ['next', 'this', 'next'],
  },
  last: {
    'from the last release': ['last', 'this'],
    'back to the last release': ['this', 'last'],
    'twice forward': ['last', 'this', 'next'],
    'twice back': ['next', 'this', 'last'],
  },
};

/** The table that another release left, and the deployments to play beside it. */
export interface Given {
  table: Recorded['table'];
  directions: Directions;
}

/** What became of the table, and of the deployments by direction. */
export interface Played {
  continued: Continued;
  crossed: Record<string, Crossed[]>;
}

const PROGRAM = fileURLToPath(new URL('continue.ts', import.meta.url));

/** Plays this release after another one. In a process of its own, which has no real clock and network; takes some 10 s. */
export const playRelease = async (given: Given): Promise<Played> => {
  const args = ['--disable-warning=ExperimentalWarning', PROGRAM];
  const playing = promisify(execFile)(process.execPath, args);
  playing.child.stdin?.end(JSON.stringify(given));
  return JSON.parse((await playing).stdout) as Played;
};
