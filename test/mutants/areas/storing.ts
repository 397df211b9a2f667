import { bugs } from '../mutant.ts';

/** Bugs in how outputs are stored. */
export const STORING = bugs('storing', [
  [
    'a file that fails to load once is given up',
    'core/storing/store-outputs.ts',
    'fetchingEndOf(error.fault, since) <= toInstant(clock.now())',
    'true',
  ],
  [
    'a stored request is thrown away when its execution is lost',
    'core/ending/failed.ts',
    '    request.outputs\n',
    '    !request.outputs\n',
  ],
  [
    'what is stored so far counts as everything',
    'core/storing/store-outputs.ts',
    '{ storedSoFar: outputs })',
    '{ outputs })',
  ],
  [
    'a second run of storing removes the files of the first',
    'core/storing/store-outputs.ts',
    "if (!ended || ended.status === 'failed')",
    'if (ended)',
  ],
  [
    'every image is stored over the first',
    'core/storing/store-outputs.ts',
    'outputObjectKey(request.requestId, index, extension)',
    'outputObjectKey(request.requestId, 0, extension)',
  ],
  [
    'more images are delivered than were paid for',
    'core/storing/store-outputs.ts',
    '.slice(0, maxOutputs(request))',
    '',
  ],
  [
    'a request that fails while storing is not settled by what it recorded',
    'functions/workflow/fail-request.ts',
    '? givenUp : failedBeforeStoring',
    '? failedBeforeStoring : givenUp',
  ],
  [
    'a file that is stored while its request is given up is thrown away',
    'core/ending/failed.ts',
    'unlessStored: true',
    'unlessStored: false',
  ],
]);
