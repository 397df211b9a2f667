/** Runs jobs so that at most `limit` are under way at once; the others start in the order they came. */
export const createLimiter = (limit: number) => {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async <Result>(job: () => Promise<Result>): Promise<Result> => {
    if (running >= limit) {
      // The job that ends hands its place over, so that a newcomer cannot slip in between.
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
