import { isTerminal } from '../evidence/witness.ts';
import { Part } from '../world/part.ts';
import type { World } from '../world/world.ts';

const NOT_FOUND = 404;

/**
 * Checks the answers to callbacks. While a request is open, no callback with a wrong token or signature is taken for it. No callback of its
 * provider is refused as a wrong one, unless the secret behind the tokens was replaced.
 */
export class CallbackAnswers extends Part {
  constructor(world: World) {
    super(world);
    world.callbacks.onAnswered.push(({ requestId, isGenuine, status }) => {
      const life = world.witness.lives.get(requestId);
      if (!life || life.removedAt !== undefined || isTerminal(life.last)) return;
      if (!isGenuine && status === 200) this.report(`[forged] a forged callback of ${requestId} is taken`);
      if (isGenuine && status === NOT_FOUND && world.evidence.rotatedAt < life.acceptedAt)
        this.report(`[refused callback] a callback of ${requestId} is refused, and its provider sent it`);
    });
  }
}
