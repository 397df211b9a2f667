/** The time of executions. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls `act` once, after so many milliseconds. The returned function cancels that. */
  after(milliseconds: number, act: () => void): () => void;
}

/** The longest timer of Node.js, about 24.8 days. */
const MAX_TIMER_MS = 2_147_483_647;

/** The time of the process, with timers of any length. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, act) {
    const at = Date.now() + milliseconds;
    let timer: NodeJS.Timeout;
    const arm = (left: number): void => {
      timer = setTimeout(
        () => (left > MAX_TIMER_MS ? arm(at - Date.now()) : act()),
        Math.min(left, MAX_TIMER_MS),
      );
    };
    arm(milliseconds);
    return () => clearTimeout(timer);
  },
};
