import { bugs } from '../mutant.ts';

/** Bugs in callers' own files. */
export const UPLOADS = bugs('uploads', [
  [
    'an upload of another account can be named',
    'core/uploads/own-inputs.ts',
    'if (handle.owner !== ownerOf(accountId))',
    "if (handle.owner === '')",
  ],
  [
    'an upload can be named after its time',
    'core/uploads/own-inputs.ts',
    'return expiryOf(handle) <= toInstant(now) ?',
    'return expiryOf(handle) === toInstant(now) ?',
  ],
  [
    'an output of another account can be named',
    'core/uploads/own-inputs.ts',
    'const isOwn = request?.accountId === accountId &&',
    'const isOwn = request !== undefined &&',
  ],
  [
    'an image can be named where a video is due',
    'core/uploads/own-inputs.ts',
    'if (kind === wanted) return undefined;',
    'if (kind !== undefined) return undefined;',
  ],
]);
