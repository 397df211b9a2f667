import type { Smoke } from './smoke.ts';

/** A check found the service at fault. The message is a sentence for the operator. */
export class CheckFailedError extends Error {
  override name = 'CheckFailedError';
}

/** A check cannot be made. The message says why. */
export class CheckSkippedError extends Error {
  override name = 'CheckSkippedError';
}

/** One thing that a deployed service must do. */
export interface Check {
  name: string;
  /**
   * Resolves with the result in words. Throws `CheckFailedError` or `CheckSkippedError`; any other error is a
   * failure too.
   */
  run(smoke: Smoke): Promise<string>;
}

/** How a check ended. */
export interface CheckResult {
  name: string;
  result: 'passed' | 'failed' | 'skipped';
  detail: string;
  seconds: number;
}

/** Throws `CheckFailedError` with this sentence unless the condition holds. */
export const ensure = (condition: boolean, sentence: string): void => {
  if (!condition) throw new CheckFailedError(sentence);
};

/** The result that an earlier check left. Throws `CheckSkippedError` when there is none. */
export const left = <T>(value: T | undefined, what: string): T => {
  if (value === undefined) throw new CheckSkippedError(`There is no ${what}.`);
  return value;
};

/** Runs one check. Never rejects. */
export const runCheck = async (check: Check, smoke: Smoke): Promise<CheckResult> => {
  const startedAt = performance.now();
  const ended = (result: CheckResult['result'], detail: string): CheckResult => ({
    name: check.name,
    result,
    detail,
    seconds: Math.round((performance.now() - startedAt) / 100) / 10,
  });
  if (smoke.signal.aborted) return ended('skipped', 'The smoke test was stopped.');
  try {
    return ended('passed', await check.run(smoke));
  } catch (error) {
    if (smoke.signal.aborted) return ended('failed', 'The smoke test was stopped during this check.');
    if (error instanceof CheckSkippedError) return ended('skipped', error.message);
    return ended('failed', describeFailure(error));
  }
};

/** The error in one line. */
export const describeFailure = (error: unknown): string => {
  if (error instanceof CheckFailedError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.name}: ${error.message}${cause}`.replaceAll(/\s+/g, ' ');
};
