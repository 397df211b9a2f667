import { MISUSES, type Misuse } from './misuses.ts';

/** Functions that could do the same at worst, by the names of their bundles, and what that is. */
export interface WorstCase {
  of: readonly string[];
  could: readonly Misuse[];
}

const CALLER = [
  'use up or lift the rate limits of known API keys',
  'read accounts with their webhook secrets',
] as const;
const READ_REQUESTS = 'read requests with their prompts';
const FALSIFY = 'falsify the state, the outputs and the attempts of requests';
const SIGN = 'sign URLs of all files';
const PROVIDER_KEYS = 'read the API keys of providers';
const LEAVE = ['change permits of providers', 'remove from the queues of providers'] as const;
const MOVE_MONEY = [
  'read accounts with their webhook secrets',
  'change balances, webhook secrets and blocks of accounts',
  'put and rewrite ledger entries',
  'invent requests and what they refund',
  READ_REQUESTS,
  FALSIFY,
  'move the expiry of requests',
  'remove or overwrite requests',
  'block and unblock end-users',
  'change the sums and pauses of end-users',
] as const;
const REMOVE_FILES = ['remove outputs', 'remove clips', 'list files'] as const;
const REMOVE = [
  'read accounts with their webhook secrets',
  READ_REQUESTS,
  'remove or overwrite requests',
  'read marks of deletions',
  'falsify marks of deletions',
  'read webhook attempts',
  'falsify webhook attempts',
  'remove webhook attempts',
  ...REMOVE_FILES,
] as const;
const CREATE = [
  ...CALLER,
  ...MOVE_MONEY,
  'read end-users',
  'read idempotency records',
  'change idempotency records',
  'read rates and switches',
  'fill the places for judging prompts',
  'see which providers have a key',
  'start generations',
  'have texts judged at our cost',
] as const;
const START_RUN = [
  'read the run of the reconciler',
  'stop or redirect the run of the reconciler',
  'start the reconciler',
] as const;

/** What each role could do at worst. Tests hold every row both ways: SECURITY.md shows it, and the role is refused everything else. */
export const WORST_CASES: readonly WorstCase[] = [
  { of: ['api/get-balance'], could: CALLER },
  { of: ['api/list-balance-history'], could: [...CALLER, 'read ledgers'] },
  {
    of: ['api/list-models'],
    could: [...CALLER, 'read rates and switches', 'see which providers have a key'],
  },
  { of: ['api/get-generation'], could: [...CALLER, READ_REQUESTS, SIGN] },
  {
    of: ['api/list-generations'],
    could: [
      ...([...CALLER, READ_REQUESTS, SIGN] as const),
      ...(['list the requests of an account', 'list the requests of an end-user'] as const),
    ],
  },
  {
    of: ['api/get-video'],
    could: [
      ...([...CALLER, READ_REQUESTS, SIGN, FALSIFY, PROVIDER_KEYS] as const),
      ...(['wake generations', 'read the run of the reconciler'] as const),
    ],
  },
  { of: ['api/list-end-users'], could: [...CALLER, 'read end-users', 'list end-users'] },
  { of: ['api/block-end-user', 'api/unblock-end-user'], could: [...CALLER, 'block and unblock end-users'] },
  { of: ['api/create-generation'], could: CREATE },
  {
    of: ['api/create-video'],
    could: [...CREATE, 'fill the places for measuring clips', 'have clips fetched and measured'],
  },
  { of: ['api/delete-generation', 'api/bulk-delete-generations'], could: [...CALLER, ...REMOVE] },
  {
    of: ['api/delete-end-user'],
    could: [
      ...([...CALLER, ...REMOVE] as const),
      ...(['read end-users', 'remove end-users', 'block and unblock end-users'] as const),
      ...(['change the sums and pauses of end-users', 'list the requests of an end-user'] as const),
    ],
  },
  {
    of: ['api/receive-callback'],
    could: [READ_REQUESTS, FALSIFY, PROVIDER_KEYS, 'forge callbacks of providers', 'wake generations'],
  },
  {
    of: ['workflow/dispatch-request'],
    could: [
      ...([READ_REQUESTS, FALSIFY, PROVIDER_KEYS, SIGN, ...LEAVE] as const),
      ...(['remove or overwrite requests', 'forge callbacks of providers'] as const),
    ],
  },
  {
    of: ['workflow/await-capacity'],
    could: [
      ...([READ_REQUESTS, FALSIFY, ...LEAVE, ...START_RUN] as const),
      ...(['add to the queues of providers', 'wake generations'] as const),
    ],
  },
  {
    of: ['workflow/await-provider'],
    could: [READ_REQUESTS, FALSIFY, PROVIDER_KEYS, ...START_RUN, 'wake generations'],
  },
  { of: ['workflow/query-provider'], could: [READ_REQUESTS, FALSIFY, PROVIDER_KEYS] },
  {
    of: ['workflow/store-outputs'],
    could: [
      ...([READ_REQUESTS, FALSIFY, 'change permits of providers'] as const),
      ...(['read outputs', 'replace outputs', 'remove outputs', 'remove clips'] as const),
    ],
  },
  { of: ['workflow/settle-request'], could: [...MOVE_MONEY, 'start webhook deliveries'] },
  {
    of: ['workflow/fail-request'],
    could: [...MOVE_MONEY, ...LEAVE, ...REMOVE_FILES, 'start webhook deliveries'],
  },
  {
    of: ['events/reconcile-lost'],
    could: [
      ...([...MOVE_MONEY, ...LEAVE, ...REMOVE_FILES] as const),
      ...(['start webhook deliveries', 'see how generations run'] as const),
    ],
  },
  {
    of: ['events/reconcile'],
    could: [
      ...([...MOVE_MONEY, ...REMOVE, ...LEAVE, PROVIDER_KEYS] as const),
      ...(['read end-users', 'remove end-users', 'read the queues of providers'] as const),
      ...(['read the run of the reconciler', 'stop or redirect the run of the reconciler'] as const),
      ...(['list expired requests', 'list due work', 'list the queues of providers'] as const),
      ...(['list the requests of an end-user', 'start generations', 'start expiries'] as const),
      ...(['start webhook deliveries', 'wake generations', 'see how generations run'] as const),
    ],
  },
  {
    of: ['workflow/deliver-webhook'],
    could: [
      ...(['read accounts with their webhook secrets', READ_REQUESTS, SIGN] as const),
      ...(['read webhook attempts', 'falsify webhook attempts', 'fill the places for webhooks'] as const),
      ...(['read which webhook hosts hang', 'hold webhooks of a host back'] as const),
    ],
  },
  { of: ['media/measure-clips'], could: ['replace clips', 'remove clips'] },
  { of: ['workflow/list-expired-requests'], could: ['list expired requests'] },
  {
    of: ['workflow/expire-requests'],
    could: [READ_REQUESTS, 'move the expiry of requests', 'remove outputs', 'remove clips'],
  },
  { of: ['workflow/list-ledgers'], could: ['list accounts'] },
  {
    of: ['workflow/verify-ledgers'],
    could: [
      ...(['read accounts with their webhook secrets', 'read ledgers', READ_REQUESTS] as const),
      ...(['read marks of deletions', 'list the requests of an account'] as const),
    ],
  },
  { of: ['events/stop-executions'], could: ['stop all executions'] },
  { of: ['events/publish-pages'], could: ['replace public pages'] },
  { of: ['events/create-signing-key'], could: [SIGN, 'replace the signing key of files'] },
];

/** Misuses that no role could do. */
export const NOBODY_COULD: readonly Misuse[] = (Object.keys(MISUSES) as Misuse[]).filter(
  (misuse) => !WORST_CASES.some(({ could }) => could.includes(misuse)),
);

/** The table of SECURITY.md. */
export const worstCaseTable = (): string => {
  const inOrder = (could: readonly Misuse[]): string =>
    (Object.keys(MISUSES) as Misuse[]).filter((misuse) => could.includes(misuse)).join('; ');
  const rows = WORST_CASES.map(({ of, could }) => {
    const names = of.map((name) => `\`${name.slice(name.indexOf('/') + 1)}\``);
    return `| ${names.join(', ')} | ${inOrder(could)} |`;
  });
  return ['| role | could at worst |', '| --- | --- |', ...rows, `| none | ${inOrder(NOBODY_COULD)} |`].join(
    '\n',
  );
};
