import type { Item } from '../../unit/fakes/expressions.ts';
import { SAME_ID } from '../evidence/evidence.ts';
import { isTerminal, objectKeysOf } from '../evidence/witness.ts';
import { Part } from '../world/part.ts';
import { markOf } from '../world/upstream/media.ts';
import type { World } from '../world/world.ts';

/** Checks what a request delivers as it ends: each file that its provider made for it once, and no file that was made for another request. */
export class Outputs extends Part {
  constructor(world: World) {
    super(world);
    world.table.witnesses.push((_key, before, after) => {
      const isEnd = after?.SK === 'REQUEST' && before && isTerminal(after) && !isTerminal(before);
      if (isEnd) this.judge(after);
    });
  }

  private judge(record: Item): void {
    const { evidence, objects } = this.world;
    const requestId = String(record.requestId);
    const files = objectKeysOf(record).map((key) => markOf(objects.get(key)?.bytes ?? new Uint8Array()));
    const made = new Set(
      evidence
        .callsOf(requestId)
        .flatMap((call) => call.made?.urls ?? [])
        .map((url) => new URL(url).pathname),
    );
    // Files of tasks with one id have one URL.
    const known = files.filter((file) => !file.includes(SAME_ID));
    if (new Set(known).size < known.length)
      this.report(`[twice] ${requestId} delivers a file twice: ${known}`);
    const foreign = known.filter((file) => !made.has(file));
    if (foreign.length > 0) this.report(`[foreign file] ${requestId} delivers ${foreign}, made for another`);
  }
}
