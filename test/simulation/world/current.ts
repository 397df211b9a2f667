import type { World } from './world.ts';

let current: World | undefined;

/** Makes a world the one that every stand-in belongs to. */
export const enter = (world: World | undefined): void => {
  current = world;
};

/** The world that runs now. Throws when none does. */
export const world = (): World => {
  if (!current) throw new Error('No world runs.');
  return current;
};
