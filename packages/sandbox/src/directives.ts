/**
 * What a prompt asks of the sandbox, written anywhere in it in square brackets. Only the sandbox understands these;
 * a real upstream would draw them.
 *
 * | directive | for | effect |
 * |---|---|---|
 * | `[delay=5]` | both | answers, or finishes the task, after 5 s (decimals allowed) |
 * | `[fail=content_policy]`, `[fail=provider_error]` | both | the upstream's own refusal or 5xx, or a task that failed with it |
 * | `[fail=timeout]` | both | never finishes |
 * | `[flaky=2]` | both | the first two calls with this prompt fail with a retryable error, the others work |
 * | `[images=3]` | images | a sequential request yields 3 |
 * | `[broken=1]`, `[broken=all]` | both | the URL of that output (from 0), or of every output, answers 404; may be repeated |
 * | `[callback=off]` | videos | no callback is sent |
 * | `[callback=twice]` | videos | every callback is sent twice at the same moment |
 * | `[callback=late]` | videos | the last callback is sent 8 s after the task finished |
 * | `[status=THROTTLED]` | videos | the task has that status word until it is done |
 * | `[empty]` | videos | the task succeeds without an output |
 * | `[forget]` | videos | the task is accepted, but the upstream knows nothing of it afterwards and sends no callback |
 * | `[megabytes=200]` | videos | the file is filled up to that many million bytes (1 to 999), if it is smaller |
 */
export type Directives = {
  /** The prompt without its directives. */
  text: string;
  /** Absent when the prompt does not say. */
  delaySeconds?: number;
  fail?: Failure;
  /** How many calls with this prompt fail before one works. */
  flakyCalls: number;
  /** How many images a sequential request yields; absent when the prompt does not say. */
  images?: number;
  brokenOutputs: 'all' | ReadonlySet<number>;
  /** Absent when callbacks are sent as the upstream does. */
  callback?: 'off' | 'twice' | 'late';
  /** What an unfinished task is said to be instead of the upstream's own word. */
  statusWord?: string;
  isEmpty: boolean;
  isForgotten: boolean;
  /** Absent when the file is as large as it is. */
  megabytes?: number;
};

export type Failure = 'content_policy' | 'provider_error' | 'timeout';

/** The directives with a value, and what the value may be. */
const VALUES = {
  delay: String.raw`\d+(?:\.\d+)?`,
  fail: 'content_policy|provider_error|timeout',
  flaky: String.raw`\d+`,
  images: String.raw`[1-9]\d*`,
  broken: String.raw`all|\d+`,
  callback: 'off|twice|late',
  status: '[A-Za-z_]+',
  megabytes: String.raw`[1-9]\d{0,2}`,
};

const withValue = Object.entries(VALUES).map(([name, value]) => `${name}=(?<${name}>${value})`);
const DIRECTIVE = new RegExp(String.raw`\[(?:${withValue.join('|')}|(?<flag>empty|forget))\]`, 'g');

/**
 * Reads the directives of a prompt. Where one is repeated the last counts, except `broken`, which adds up. Brackets
 * that hold anything else stay part of the text.
 */
export const parseDirectives = (prompt: string): Directives => {
  const directives: Directives = {
    text: prompt,
    flakyCalls: 0,
    brokenOutputs: new Set(),
    isEmpty: false,
    isForgotten: false,
  };
  const brokenIndexes = new Set<number>();
  let isAllBroken = false;
  for (const { groups = {} } of prompt.matchAll(DIRECTIVE)) {
    const { delay, fail, flaky, images, broken, callback, status, megabytes, flag } = groups;
    if (delay !== undefined) directives.delaySeconds = Number(delay);
    if (fail !== undefined) directives.fail = fail as Failure;
    if (flaky !== undefined) directives.flakyCalls = Number(flaky);
    if (images !== undefined) directives.images = Number(images);
    if (broken === 'all') isAllBroken = true;
    else if (broken !== undefined) brokenIndexes.add(Number(broken));
    if (callback !== undefined) directives.callback = callback as 'off' | 'twice' | 'late';
    if (status !== undefined) directives.statusWord = status;
    if (megabytes !== undefined) directives.megabytes = Number(megabytes);
    if (flag === 'empty') directives.isEmpty = true;
    if (flag === 'forget') directives.isForgotten = true;
  }
  return {
    ...directives,
    text: prompt.replace(DIRECTIVE, ' ').replace(/\s+/g, ' ').trim(),
    brokenOutputs: isAllBroken ? 'all' : brokenIndexes,
  };
};

/** Whether the output of this index (from 0) must answer 404. */
export const isBroken = ({ brokenOutputs }: Directives, index: number): boolean =>
  brokenOutputs === 'all' || brokenOutputs.has(index);
