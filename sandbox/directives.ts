/**
 * What a prompt asks of the sandbox, written anywhere in it in square brackets. Only the sandbox understands these;
 * a real upstream would draw them.
 *
 * | directive | effect |
 * |---|---|
 * | `[delay=5]` | answers, or finishes the task, after 5 s (decimals allowed) |
 * | `[fail=content_policy]`, `[fail=provider_error]` | the upstream's own refusal or 5xx |
 * | `[fail=timeout]` | never finishes |
 * | `[flaky=2]` | the first two calls with this prompt fail with a retryable error, the others work |
 * | `[images=3]` | a sequential request yields 3 |
 * | `[broken=1]`, `[broken=all]` | the URL of that output (from 0), or of every output, answers 404; may be repeated |
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
};

export type Failure = 'content_policy' | 'provider_error' | 'timeout';

const DIRECTIVE =
  /\[(?:delay=(?<delay>\d+(?:\.\d+)?)|fail=(?<fail>content_policy|provider_error|timeout)|flaky=(?<flaky>\d+)|images=(?<images>[1-9]\d*)|broken=(?<broken>all|\d+))\]/g;

/**
 * Reads the directives of a prompt. Where one is repeated the last counts, except `broken`, which adds up. Brackets
 * that hold anything else stay part of the text.
 */
export const parseDirectives = (prompt: string): Directives => {
  const directives: Directives = { text: prompt, flakyCalls: 0, brokenOutputs: new Set() };
  const brokenIndexes = new Set<number>();
  let isAllBroken = false;
  for (const { groups = {} } of prompt.matchAll(DIRECTIVE)) {
    const { delay, fail, flaky, images, broken } = groups;
    if (delay !== undefined) directives.delaySeconds = Number(delay);
    if (fail !== undefined) directives.fail = fail as Failure;
    if (flaky !== undefined) directives.flakyCalls = Number(flaky);
    if (images !== undefined) directives.images = Number(images);
    if (broken === 'all') isAllBroken = true;
    else if (broken !== undefined) brokenIndexes.add(Number(broken));
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
