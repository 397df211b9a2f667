/**
 * What a prompt tells the sandbox to do, in square brackets anywhere in the text. Real upstreams know none of these.
 * The README lists them.
 */
export type Directives = {
  /** The prompt without its directives. */
  text: string;
  /** Absent when the prompt has no `[delay]`. */
  delaySeconds?: number;
  /** How long the task waits before it starts; absent without `[queued]`. */
  queuedSeconds?: number;
  fail?: Failure;
  /** How many calls with this prompt fail before one succeeds. */
  flakyCalls: number;
  /** Places (from 0) of the calls with this prompt that are refused as too many, however often they are repeated. */
  busyCalls: 'all' | ReadonlySet<number>;
  /** For how long calls with this prompt are refused as too many, from the first one; 0 for none. */
  busySeconds: number;
  /** Creations with this prompt in any second; others are refused. Absent for any number. */
  createsPerSecond?: number;
  /** Synchronous calls with this prompt at once; others are refused. Absent for any number. */
  runningCalls?: number;
  /** The `Retry-After` of a 429 or 503 that this prompt asks for; absent for none. */
  retryAfterSeconds?: number;
  /** How long the answer to the creation is held back, once its task was taken; 0 for not at all. */
  hangSeconds: number;
  /** How many queries of the task are answered with 503 before one is answered. */
  unavailableQueries: number;
  /** Whether every query of the task is answered with 401. */
  isRevoked: boolean;
  /** Seconds of billed input that the task reports, where its upstream reports any; absent for those of its clips. */
  usageSeconds?: number;
  /** Indexes (from 0) of the outputs that moderation refuses, while the others are made. */
  refusedOutputs: ReadonlySet<number>;
  /** Size of a sequential group; absent when the prompt has no `[images]`. */
  images?: number;
  /** Indexes (from 0) of the outputs whose URL returns 410. */
  brokenOutputs: 'all' | ReadonlySet<number>;
  /** Indexes (from 0) of the outputs whose file ends half way. */
  halfOutputs: 'all' | ReadonlySet<number>;
  /** For how long the URL of every output returns 404, from when it was made; 0 for not at all. */
  lateSeconds: number;
  /** Absent for the upstream's normal callbacks. */
  callback?: 'off' | 'twice' | 'late' | 'forged';
  /** Replaces the upstream's status word while the task is unfinished. */
  statusWord?: string;
  /** The answers that are sent unreadable: the answer to the creation, or every answer to a query of the task. */
  garbled?: 'creation' | 'queries';
  isEmpty: boolean;
  isForgotten: boolean;
  /** Minimum file size in millions of bytes; absent for no minimum. */
  megabytes?: number;
};

/** The values of `[fail=…]`. */
export type Failure = 'content_policy' | 'provider_error' | 'timeout';

/** The directives that take a value, and the pattern of that value. */
const VALUES = {
  delay: String.raw`\d+(?:\.\d+)?`,
  queued: String.raw`\d+(?:\.\d+)?`,
  fail: 'content_policy|provider_error|timeout',
  busy: String.raw`all|\d+`,
  'busy-for': String.raw`\d+(?:\.\d+)?`,
  rate: String.raw`[1-9]\d*`,
  running: String.raw`[1-9]\d*`,
  'retry-after': String.raw`\d+`,
  hang: String.raw`\d+(?:\.\d+)?`,
  unavailable: String.raw`\d+`,
  usage: String.raw`\d+(?:\.\d+)?`,
  partial: String.raw`\d+`,
  flaky: String.raw`\d+`,
  images: String.raw`[1-9]\d*`,
  broken: String.raw`all|\d+`,
  half: String.raw`all|\d+`,
  late: String.raw`\d+(?:\.\d+)?`,
  callback: 'off|twice|late|forged',
  status: '[A-Za-z_]+',
  garbled: 'creation|queries',
  megabytes: String.raw`[1-9]\d{0,2}`,
};

const groupOf = (name: string): string => name.replace('-', '_');
const withValue = Object.entries(VALUES).map(([name, value]) => `${name}=(?<${groupOf(name)}>${value})`);
const DIRECTIVE = new RegExp(String.raw`\[(?:${withValue.join('|')}|(?<flag>empty|forget|revoked))\]`, 'g');

/** Directives of a prompt without any. */
const noDirectives = (text: string): Directives => ({
  text,
  flakyCalls: 0,
  busyCalls: new Set(),
  busySeconds: 0,
  hangSeconds: 0,
  unavailableQueries: 0,
  isRevoked: false,
  refusedOutputs: new Set(),
  brokenOutputs: new Set(),
  halfOutputs: new Set(),
  lateSeconds: 0,
  isEmpty: false,
  isForgotten: false,
});

type NumberField = {
  [Field in keyof Directives]-?: number extends Directives[Field] ? Field : never;
}[keyof Directives];

/** Directives with a number, by their group, and the field of the number. */
const NUMBERS: Readonly<Record<string, NumberField>> = {
  delay: 'delaySeconds',
  busy_for: 'busySeconds',
  rate: 'createsPerSecond',
  running: 'runningCalls',
  retry_after: 'retryAfterSeconds',
  hang: 'hangSeconds',
  unavailable: 'unavailableQueries',
  usage: 'usageSeconds',
  queued: 'queuedSeconds',
  flaky: 'flakyCalls',
  images: 'images',
  late: 'lateSeconds',
  megabytes: 'megabytes',
};

/** Applies one directive, by its groups. The last directive with a number or a word wins. */
const apply = (directives: Directives, groups: Record<string, string | undefined>): void => {
  for (const [group, field] of Object.entries(NUMBERS)) {
    const value = groups[group];
    if (value !== undefined) directives[field] = Number(value);
  }
  const { fail, callback, status, garbled, flag } = groups;
  if (fail !== undefined) directives.fail = fail as Failure;
  if (callback !== undefined) directives.callback = callback as NonNullable<Directives['callback']>;
  if (status !== undefined) directives.statusWord = status;
  if (garbled !== undefined) directives.garbled = garbled as 'creation' | 'queries';
  if (flag === 'empty') directives.isEmpty = true;
  if (flag === 'forget') directives.isForgotten = true;
  if (flag === 'revoked') directives.isRevoked = true;
};

/** The numbers that the directives of a group name together; `all` when a directive of the group says `all`. */
const numbersOf = (matches: readonly RegExpExecArray[], group: string): Set<number> | 'all' => {
  const values = matches.flatMap(({ groups }) => groups?.[group] ?? []);
  return values.includes('all') ? 'all' : new Set(values.map(Number));
};

/**
 * Parses the directives in a prompt. The last one wins when repeated, except `broken`, `busy`, `half` and `partial`, which accumulate. Other
 * text in brackets stays in the text.
 */
export const parseDirectives = (prompt: string): Directives => {
  const matches = [...prompt.matchAll(DIRECTIVE)];
  const directives = noDirectives(prompt.replace(DIRECTIVE, ' ').replace(/\s+/g, ' ').trim());
  for (const { groups = {} } of matches) apply(directives, groups);
  return {
    ...directives,
    busyCalls: numbersOf(matches, 'busy'),
    brokenOutputs: numbersOf(matches, 'broken'),
    halfOutputs: numbersOf(matches, 'half'),
    refusedOutputs: numbersOf(matches, 'partial') as Set<number>,
  };
};

/** What is wrong with the file of an output. */
export type FileFault = {
  /** Its URL returns 410. */
  isBroken: boolean;
  /** It ends half way, as if that were all of it. */
  isHalf: boolean;
  /** For how long its URL returns 404. */
  lateSeconds: number;
};

/** The fault of the output at this index (from 0). */
export const faultOf = (
  { brokenOutputs, halfOutputs, lateSeconds }: Directives,
  index: number,
): FileFault => ({
  isBroken: brokenOutputs === 'all' || brokenOutputs.has(index),
  isHalf: halfOutputs === 'all' || halfOutputs.has(index),
  lateSeconds,
});
