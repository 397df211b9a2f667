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
    'core/creation/create-request.ts',
    'if (!leavesOutcomeOpen(error)) await discardCopies();',
    '',
  ],
  [
    'copies of a creation that may have been written go',
    'core/creation/create-request.ts',
    'if (!leavesOutcomeOpen(error)) await discardCopies();',
    'await discardCopies();',
  ],
  [
    'copies of a repeated creation stay',
    'core/creation/create-request.ts',
    "if (written.kind === 'repeated') await discardCopies();",
    '',
  ],
]);
