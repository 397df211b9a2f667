import type { World } from './world.ts';

/** A part of a world: a stand-in, or a judge of what happens there. */
export abstract class Part {
  protected readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  /** A rule is broken. */
  protected report(problem: string): void {
    this.world.report(problem);
  }
}
