/** One more than the highest seed that a maker takes. */
const SEEDS = 2 ** 31;

/** The seed of a call of a request, if that names one: each call has its own, or all would make the same images. */
export const seedOfCall = ({ seed }: { seed?: number | undefined }, call: number): { seed?: number } =>
  seed === undefined ? {} : { seed: (seed + call) % SEEDS };
