import { MISUSES, type Misuse } from './misuses.ts';

const READ_REQUESTS = 'read requests with their prompts';
const FALSIFY = 'falsify states, outputs and attempts of requests';
const SIGN = 'sign URLs of all files';
const PROVIDER_KEYS = 'read the API keys of providers';

/** Misuses that several roles have together, under a name for the table. */
const SHARED = {
  calls: ['use up or lift the rate limits of known API keys', 'read accounts with their webhook secrets'],
  money: [
    'read accounts with their webhook secrets',
    'change balances, prices, webhooks and blocks of accounts',
    'put and rewrite ledger entries',
    'invent requests and refunds',
    'move the expiry of requests',
    'remove or overwrite requests',
    'block and unblock end-users',
    'change the sums, pauses and budgets of end-users',
    'falsify webhook attempts',
  ],
  requests: [READ_REQUESTS, FALSIFY],
  files: ['remove outputs', 'remove clips', 'list files'],
  removal: [
    'read accounts with their webhook secrets',
    READ_REQUESTS,
    'remove or overwrite requests',
    'read marks of deletions',
    'falsify marks of deletions',
    'read webhook attempts',
    'falsify webhook attempts',
    'remove webhook attempts',
  ],
  queues: ['change permits of providers', 'remove from the queues of providers'],
  'route states': ['read which routes are paused', 'pause routes'],
  creation: [
    'read end-users',
    'read idempotency records',
    'change idempotency records',
    'read rates and switches',
    'fill the slots for judging prompts',
    'see which providers have a key',
    'start generations',
    'have webhooks attempted',
    'have texts judged at our cost',
    'fill the slots for measuring clips',
    'have clips fetched and measured',
    'see the concurrency of the AWS account',
    SIGN,
  ],
  waiting: ['remove idempotency records', 'fill the slots for calls of OpenAI clients'],
  loop: ['read the run of the reconciler', 'stop or redirect the run of the reconciler'],
} as const satisfies Record<string, readonly Misuse[]>;

/** The worst case of some functions, named by their bundles. */
export interface WorstCase {
  of: readonly string[];
  could: readonly (Misuse | keyof typeof SHARED)[];
}

/** What each role could do at worst. Tests hold every row both ways: the role is allowed this, and refused everything else. */
export const WORST_CASES: readonly WorstCase[] = [
  { of: ['api/get-balance'], could: ['calls'] },
  { of: ['api/list-balance-history'], could: ['calls', 'read ledgers'] },
  {
    of: ['api/list-models', 'api/list-openai-models', 'api/get-openai-model'],
    could: ['calls', 'read rates and switches', 'see which providers have a key'],
  },
  {
    of: ['api/get-usage'],
    could: ['calls', 'read ledgers', READ_REQUESTS, 'read end-users', 'fill the slots for usage'],
  },
  { of: ['api/get-generation'], could: ['calls', READ_REQUESTS, SIGN] },
  {
    of: ['api/list-generations', 'api/list-videos'],
    could: [
      ...(['calls', READ_REQUESTS, SIGN] as const),
      ...(['list the requests of an account', 'list the requests of an end-user'] as const),
    ],
  },
  {
    of: ['api/get-video'],
    could: [
      ...(['calls', 'requests', SIGN, PROVIDER_KEYS] as const),
      ...(['wake generations', 'read the run of the reconciler'] as const),
    ],
  },
  {
    of: ['api/create-upload'],
    could: ['calls', 'replace uploads', 'fill the slots for uploads'],
  },
  { of: ['api/list-end-users'], could: ['calls', 'read end-users', 'list end-users'] },
  { of: ['api/block-end-user', 'api/unblock-end-user'], could: ['calls', 'block and unblock end-users'] },
  {
    of: ['api/get-end-user-budget'],
    could: [
      ...(['calls', 'read ledgers', READ_REQUESTS, 'read end-users', 'fill the slots for usage'] as const),
      'list the requests of an end-user',
    ],
  },
  {
    of: ['api/put-end-user-budget'],
    could: [
      ...(['calls', 'read ledgers', READ_REQUESTS, 'read end-users', 'fill the slots for usage'] as const),
      'list the requests of an end-user',
      'change the sums, pauses and budgets of end-users',
    ],
  },
  { of: ['api/create-generation'], could: ['calls', 'money', 'requests', 'creation'] },
  { of: ['api/create-openai-image'], could: ['calls', 'money', 'requests', 'creation', 'waiting'] },
  {
    of: ['api/edit-openai-image'],
    could: ['calls', 'money', 'requests', 'creation', 'waiting', 'replace uploads', 'remove uploads'],
  },
  { of: ['api/create-video'], could: ['calls', 'money', 'requests', 'creation'] },
  {
    of: ['api/create-quote'],
    could: [
      ...(['calls', READ_REQUESTS, 'read end-users', 'read rates and switches', SIGN] as const),
      ...(['see which providers have a key', 'see the concurrency of the AWS account'] as const),
      ...(['fill the slots for judging prompts', 'have texts judged at our cost'] as const),
      ...(['fill the slots for measuring clips', 'have clips fetched and measured'] as const),
    ],
  },
  {
    of: ['api/openai-videos'],
    could: [
      ...(['calls', 'money', 'requests', 'creation', 'remove idempotency records'] as const),
      ...(['removal', 'files', 'replace uploads', 'remove uploads'] as const),
      ...(['list the requests of an account', 'list the requests of an end-user'] as const),
    ],
  },
  {
    of: ['api/delete-generation', 'api/bulk-delete-generations'],
    could: ['calls', 'removal', 'files', 'remove uploads'],
  },
  {
    of: ['api/delete-end-user'],
    could: [
      ...(['calls', 'removal', 'files', 'remove uploads'] as const),
      ...(['read end-users', 'remove end-users', 'block and unblock end-users'] as const),
      ...(['change the sums, pauses and budgets of end-users', 'list the requests of an end-user'] as const),
    ],
  },
  {
    of: ['api/receive-callback'],
    could: ['requests', PROVIDER_KEYS, 'forge callbacks of providers', 'wake generations'],
  },
  {
    of: ['workflow/dispatch-request'],
    could: [
      ...(['requests', PROVIDER_KEYS, SIGN, 'queues', 'route states', 'read rates and switches'] as const),
      ...(['remove or overwrite requests', 'forge callbacks of providers'] as const),
    ],
  },
  {
    of: ['workflow/await-capacity'],
    could: [
      ...(['requests', 'queues', 'loop', 'start the reconciler'] as const),
      ...(['add to the queues of providers', 'wake generations'] as const),
    ],
  },
  {
    of: ['workflow/await-provider'],
    could: ['requests', PROVIDER_KEYS, 'loop', 'start the reconciler', 'wake generations'],
  },
  { of: ['workflow/query-provider'], could: ['requests', PROVIDER_KEYS] },
  {
    of: ['workflow/store-outputs'],
    could: [
      ...(['requests', 'change permits of providers', 'route states'] as const),
      ...(['replace outputs', 'remove outputs', 'remove clips'] as const),
    ],
  },
  { of: ['workflow/settle-request'], could: ['money', 'requests', 'queues', 'have webhooks attempted'] },
  {
    of: ['workflow/fail-request'],
    could: ['money', 'requests', 'queues', 'route states', 'files', 'have webhooks attempted'],
  },
  {
    of: ['events/reconcile-lost'],
    could: [
      ...(['money', 'requests', 'queues', 'files', 'start webhook deliveries'] as const),
      ...(['have webhooks attempted', 'see how generations run'] as const),
    ],
  },
  {
    of: ['events/reconcile'],
    could: [
      ...([
        'money',
        'requests',
        'removal',
        'files',
        'remove uploads',
        'queues',
        'loop',
        PROVIDER_KEYS,
        SIGN,
      ] as const),
      ...(['read end-users', 'remove end-users', 'read the queues of providers'] as const),
      ...(['read which routes are paused', 'read rates and switches'] as const),
      ...(['list expired requests', 'list due work', 'list the queues of providers'] as const),
      ...(['list the requests of an end-user', 'start generations', 'start expiries'] as const),
      ...(['have webhooks attempted', 'wake generations', 'see how generations run'] as const),
    ],
  },
  {
    of: ['workflow/deliver-webhook'],
    could: [
      ...(['read accounts with their webhook secrets', READ_REQUESTS, SIGN] as const),
      ...(['read webhook attempts', 'falsify webhook attempts', 'fill the slots for webhooks'] as const),
      ...(['start webhook deliveries'] as const),
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
  { of: ['events/stop-executions'], could: ['stop all executions', 'see the state of the stack'] },
  { of: ['events/run-canary'], could: ['use the API key of the canary'] },
  { of: ['events/publish-pages'], could: ['replace public pages'] },
  { of: ['events/create-signing-key'], could: [SIGN, 'replace the signing key of files'] },
];

const ALL = Object.keys(MISUSES) as Misuse[];
const isShared = (name: string): name is keyof typeof SHARED => Object.hasOwn(SHARED, name);

/** The misuses of a row, in the order of the catalogue. */
export const misusesOf = ({ could }: WorstCase): Misuse[] => {
  const named = new Set<string>(could.flatMap((name) => (isShared(name) ? SHARED[name] : name)));
  return ALL.filter((misuse) => named.has(misuse));
};

/** Misuses that no role could do. */
export const NOBODY_COULD: readonly Misuse[] = ALL.filter(
  (misuse) => !WORST_CASES.some((row) => misusesOf(row).includes(misuse)),
);

/** The gravest misuses, which SECURITY.md shows with their roles. */
const GRAVEST: readonly Misuse[] = [
  'change balances, prices, webhooks and blocks of accounts',
  'put and rewrite ledger entries',
  'remove or overwrite requests',
  'read the API keys of providers',
  'forge callbacks of providers',
  'read accounts with their webhook secrets',
  READ_REQUESTS,
  SIGN,
  'replace outputs',
  'remove outputs',
];

/** The table of SECURITY.md: the gravest misuses, each with the roles that could do it, and the misuses of no role. */
export const worstCaseTable = (): string => {
  const rolesOf = (misuse: Misuse): string => {
    const [could = [], couldNot = []] = [true, false].map((isAble) =>
      WORST_CASES.filter((row) => misusesOf(row).includes(misuse) === isAble).flatMap(({ of }) =>
        of.map((name) => `\`${name.slice(name.indexOf('/') + 1)}\``),
      ),
    );
    return could.length <= couldNot.length ? could.join(', ') : `all but ${couldNot.join(', ')}`;
  };
  const rows = [...Map.groupBy(GRAVEST, rolesOf), ['none', NOBODY_COULD] as const];
  return [
    ...['| at worst | could be done by the roles of |', '| --- | --- |'],
    ...rows.map(([roles, misuses]) => `| ${misuses.join('; ')} | ${roles} |`),
  ].join('\n');
};
