/** The limit of an account's calls about tasks: queries, lists and cancels together. */
export type TaskRate = {
  /** Whether one more call may be made now, which is then counted. */
  hasRoom(): boolean;
};

const SECOND_MILLISECONDS = 1_000;

/** Creates a limit of so many calls in any second. `now` returns epoch milliseconds. */
export const createTaskRate = (now: () => number, perSecond: number): TaskRate => {
  let recent: number[] = [];
  return {
    hasRoom() {
      recent = recent.filter((at) => at > now() - SECOND_MILLISECONDS);
      if (recent.length >= perSecond) return false;
      recent.push(now());
      return true;
    },
  };
};
