/** Creates a function that runs at most `limit` jobs at once. The others wait and start in order of arrival. */
export const createLimiter = (limit: number) => {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async <Result>(job: () => Promise<Result>): Promise<Result> => {
    if (running >= limit) {
      // A finished job hands its slot to the next in line, so a new job cannot take it first.
      await new Promise<void>((start) => waiting.push(start));
    } else {
      running += 1;
    }
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
};
