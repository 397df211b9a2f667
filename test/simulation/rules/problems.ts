/** The problems of those that have one. */
export const problemsOf = <T>(
  all: Iterable<T>,
  problemOf: (one: T) => string | false | undefined,
): string[] => [...all].map(problemOf).filter((problem) => typeof problem === 'string');
