import type { Directives } from './directives.ts';

/** Refuses the calls that `[busy=…]` names. */
export type BusyCalls = {
  /** Counts a call by its model and prompt, and says whether it is refused. */
  isRefused(key: string, busyCalls: Directives['busyCalls']): boolean;
};

/** A refused call is not repeated sooner than this. */
const REPEAT_MILLISECONDS = 500;

/**
 * Creates the places of the calls of all prompts. The calls of a request may be equal, so a call within half a second of
 * a refusal is the next one, and a later one repeats the refused call. `now` returns epoch milliseconds. Keeps each
 * prompt that has busy places.
 */
export const createBusyCalls = (now: () => number): BusyCalls => {
  const prompts = new Map<string, { calls: number; refusedAt: Map<number, number> }>();

  return {
    isRefused(key, busyCalls) {
      if (busyCalls === 'all') return true;
      if (busyCalls.size === 0) return false;
      const prompt = prompts.get(key) ?? { calls: 0, refusedAt: new Map() };
      prompts.set(key, prompt);
      const repeated = [...prompt.refusedAt].find(([, at]) => now() - at >= REPEAT_MILLISECONDS);
      const place = repeated?.[0] ?? prompt.calls++;
      if (!busyCalls.has(place)) return false;
      prompt.refusedAt.set(place, now());
      return true;
    },
  };
};
