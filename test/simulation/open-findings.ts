/**
 * Rules that the service still breaks, and why. A run that breaks one of them does not fail unless it is strict
 * (`--strict`). A rule leaves this list with the change that keeps it.
 */
export const OPEN_FINDINGS: Readonly<Record<string, string>> = {
  wasted: 'an outcome is lost when the table refuses it for a second, or the request fails while it waits',
  dropped: 'a step of the state machine is retried for 45 s at most, and not at all after some errors',
  'given up': 'a call that is turned away is repeated for a few minutes, not until the deadline',
  unwoken: 'an execution can wait under a token that nobody keeps, until its deadline',
  survivor: 'a removal of an end-user reads an index that is behind',
  'half removed': 'a removal of an end-user goes on only when it is called for again',
  'end-user 404': 'a removal that is repeated by the SDK finds nobody',
  'late call': 'a request can end between the reading of it and the claim of a call',
};

/** The name of the rule that a problem breaks, `[name] …`; older rules have none. */
export const ruleOf = (problem: string): string => /^\[([^\]]+)\]/.exec(problem)?.[1] ?? 'unnamed';

/** The problems that fail a run. */
export const failing = (problems: readonly string[], strict: boolean): string[] =>
  problems.filter((problem) => strict || !Object.hasOwn(OPEN_FINDINGS, ruleOf(problem)));
