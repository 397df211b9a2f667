import { bugs } from '../mutant.ts';

/** Bugs in how files and records expire. */
export const EXPIRY = bugs('expiry', [
  [
    'an expired record reads as succeeded',
    'core/requests/render-record.ts',
    'const status = statusAt(request, context.now);',
    'const { status } = request;',
  ],
  ['a record is read after its retention', 'functions/http/record-read.ts', ' || isRemoved(stored, now)', ''],
  [
    'records after their retention take places on a page',
    'core/requests/request-lists.ts',
    'if (isRemoved(entry, now)) return false;',
    '',
  ],
  [
    'the files of a video never expire',
    'core/workflow/close-request.ts',
    "status === 'succeeded' && expiresAt !== undefined ?",
    "status === 'succeeded' && expiresAt !== undefined && request.kind === 'image' ?",
  ],
  [
    'a record counts as expired while files remain',
    'core/deletion/expire-request.ts',
    'if (!complete) throw',
    'if (!complete && files.length === 0) throw',
  ],
  [
    'files are removed before their time',
    'core/deletion/expire-request.ts',
    "if (statusAt(request, now) !== 'expired') throw",
    "if (statusAt(request, now) !== 'expired' && !request.expiresAt) throw",
  ],
  [
    'a succeeded record vanishes before its retention',
    'core/workflow/end-request.ts',
    "state.status === 'succeeded' ? state.expiresAt : finishedAt",
    'finishedAt',
  ],
  [
    'a URL works after its file has expired',
    'core/files/signed-urls.ts',
    'new Date(toEpochSeconds(expiresAt) * 1000)',
    'new Date((toEpochSeconds(expiresAt) + 3600) * 1000)',
  ],
]);
