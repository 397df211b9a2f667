import { bugs } from '../mutant.ts';

/** Bugs in reference videos. */
export const CLIPS = bugs('clips', [
  [
    'one account measures any number of reference videos at once',
    'core/creation/measured-creation.ts',
    'measures = await withSlots(slots, systemClock, tooManyInputs, () => measure(work));',
    'measures = await measure(work);',
  ],
  [
    'copies of a refused creation stay',
    'core/creation/measured-creation.ts',
    'if (mayBeCopied && !mayBeWritten) await discardCopies();',
    'if (mayBeWritten) await discardCopies();',
  ],
  [
    'copies of a creation that may have been written go',
    'core/creation/measured-creation.ts',
    'const mayBeWritten = measured !== undefined && leavesOutcomeOpen(error);',
    'const mayBeWritten = measured !== undefined && !error;',
  ],
  [
    'copies of a repeated creation stay',
    'core/creation/measured-creation.ts',
    'if (!needsCopies) await discardCopies();',
    'if (needsCopies === undefined) await discardCopies();',
  ],
]);
