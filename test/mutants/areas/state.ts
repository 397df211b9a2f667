import { bugs } from '../mutant.ts';

/** Bugs in which states follow which. */
export const STATE = bugs('state', [
  [
    'a request that has ended ends again',
    'core/requests/requests.ts',
    '#status IN (:queued, :processing)$',
    '(#status <> :queued OR #status <> :processing)$',
  ],
  [
    'a request in any status becomes processing',
    'core/requests/requests.ts',
    '#status = :was',
    'attribute_exists(PK) OR #status = :was',
  ],
  [
    'a blocked account creates when the block comes during the call',
    'core/ledger/ledger.ts',
    ' AND attribute_not_exists(blockedAt)',
    '',
  ],
  [
    'a blocked end-user creates when the block comes during the call',
    'core/end-users/end-users.ts',
    'attribute_not_exists(blockedAt) AND attribute_not_exists(deletingAt)',
    'attribute_not_exists(deletingAt)',
  ],
  [
    'a request that has ended counts as unfinished for its end-user',
    'core/end-users/end-users.ts',
    "':minusOne': -1",
    "':minusOne': 0",
  ],
  [
    'a provider error pauses the end-user',
    'core/ending/write-end.ts',
    "state.error.code !== 'provider_timeout'",
    "state.error.code === 'content_policy'",
  ],
  [
    'every request fails without a call to its provider',
    'core/dispatch/dispatch-request.ts',
    '>= deadline)',
    '<= deadline)',
  ],
  [
    'a request without any file succeeds',
    'core/ending/settled.ts',
    'if (delivered === 0)',
    'if (!request.outputs)',
  ],
]);
