import { bugs } from '../mutant.ts';

/** Bugs in how files and records expire. */
export const EXPIRY = bugs('expiry', [
  [
    'an expired record reads as succeeded',
    'core/requests/render-record.ts',
    'const status = statusAt(request, now);',
    'const { status } = request;',
  ],
  ['a record is read after its retention', 'functions/http/record-read.ts', ' || isRemoved(stored, now)', ''],
  [
    'records after their retention take places on a page',
    'core/requests/request-list-rules.ts',
    'now.getTime() / 1_000',
    '0',
  ],
  [
    'the files of a video never expire',
    'core/deletion/list-expired-requests.ts',
    "work.kind === 'request' ?",
    "work.kind === 'request' && work.requestId.startsWith('img') ?",
  ],
  [
    'the files of a request with a webhook never expire',
    'core/requests/requests.ts',
    'if (expiresAt !== undefined) {',
    'if (expiresAt === undefined) {',
  ],
  [
    'a record counts as expired while files remain',
    'core/deletion/expire-requests.ts',
    'if (keys.some((key) => left.has(key)))',
    'if (keys.length === 0)',
  ],
  [
    'files that could not be removed are left for good',
    'core/requests/requests.ts',
    "'SET GSI1SK = :dueAt, removalFailures = :failures'",
    "'SET removalFailures = :failures REMOVE GSI1PK, GSI1SK'",
  ],
  [
    'files are removed before their time',
    'core/deletion/expire-requests.ts',
    " && statusAt(request, now) === 'expired'",
    '',
  ],
  [
    'a request expires again and again',
    'core/requests/requests.ts',
    'REMOVE GSI1PK, GSI1SK, removalFailures',
    'REMOVE removalFailures',
  ],
  [
    'a succeeded record vanishes before its retention',
    'core/ending/write-end.ts',
    "state.status === 'succeeded' ? state.expiresAt : finishedAt",
    'finishedAt',
  ],
  [
    'a URL works after its file has expired',
    'core/files/signed-urls.ts',
    'const expires = toEpochSeconds(expiresAt);',
    'const expires = toEpochSeconds(expiresAt) + 3600;',
  ],
]);
