/** The number of seeds: the highest seed that a maker takes, plus one. */
const SEEDS = 2 ** 31;

/** The seed of a call of a request that names a seed. Every call has a different seed: equal seeds would make equal images. */
export const seedOfCall = ({ seed }: { seed?: number | undefined }, call: number): { seed?: number } =>
  seed === undefined ? {} : { seed: (seed + call) % SEEDS };
