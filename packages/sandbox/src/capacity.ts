/** What an upstream lets an account do at once, for each model. */
export type Capacity = {
  /** Tasks that run at once; others wait in its queue, or are refused. Default: any number. */
  runningTasks?: number;
  /** Creations a second; others are refused with 429. Default: any number. */
  createsPerSecond?: number;
  /** What becomes of a task beyond `runningTasks`: both are seen of real upstreams. Default `queue`. */
  whenFull?: 'queue' | 'refuse';
};

/** Wan 2.7 and 3.0: "5 creates/s and 5 running tasks per account and model" (Model Studio, rate limits). */
export const WAN_CAPACITY = { runningTasks: 5, createsPerSecond: 5 } as const satisfies Capacity;

/** Seedance 2.x of a company: 600 creations a minute and 10 running tasks (ModelArk, video generation). */
export const SEEDANCE_CAPACITY = { runningTasks: 10, createsPerSecond: 10 } as const satisfies Capacity;

/** Whether a creation is one too many. */
export type Gate = {
  /** Counts a creation of a model, and says whether it exceeds its rate, or falls into the seconds of its `[busy]`. */
  refuses(model: string, prompt: string, busySeconds: number): boolean;
};

/** Creates a gate. `now` returns epoch milliseconds. Keeps the creations of the last second, and one time for each busy prompt. */
export const createGate = (now: () => number, { createsPerSecond }: Capacity = {}): Gate => {
  const creations = new Map<string, number[]>();
  const busySince = new Map<string, number>();

  const isBusy = (key: string, seconds: number): boolean => {
    if (seconds === 0) return false;
    const since = busySince.get(key) ?? now();
    busySince.set(key, since);
    return now() < since + seconds * 1000;
  };

  return {
    refuses(model, prompt, busySeconds) {
      const recent = (creations.get(model) ?? []).filter((at) => at > now() - 1_000);
      const isTooMany = createsPerSecond !== undefined && recent.length >= createsPerSecond;
      creations.set(model, isTooMany ? recent : [...recent, now()]);
      return isTooMany || isBusy(`${model}\n${prompt}`, busySeconds);
    },
  };
};
