import fc from 'fast-check';
import { FAULTS, INVOCATION_FAULTS } from '../world/engine/faults.ts';
import { OUTAGE_MODES, PROVIDERS, type Service } from '../world/engine/outages.ts';
import { type Action, TASKS } from './actions.ts';

export type Actions = fc.Arbitrary<Action>;

/** How often each is chosen. */
export type Weighted<T> = readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[];

/** One of them, by its weight. */
export const chosenFrom = <T>(...weighted: Weighted<T>): fc.Arbitrary<T> =>
  fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })));

/** A whole number, both bounds included. */
export const between = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max });

/** A value in `ofEight` of eight cases, else undefined. */
export const sometimes = <T>(ofEight: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  chosenFrom<T | undefined>([8 - ofEight, fc.constant(undefined)], [ofEight, arbitrary]);

/** Which of the accounts. */
export const account = fc.nat(1);
/** Which of the account's end-users. */
export const user = fc.nat(1);
/** Which of those that there are. */
export const pick = fc.nat(19);
const request = fc.nat(11);

/** Reads or deletes a request, its own account or another. */
export const onRequest: Actions = fc.record({
  do: fc.constantFrom('read', 'read', 'read', 'delete', 'delete', 'delete', 'intrude'),
  request,
});
/** Deletes several requests. */
export const bulkDelete: Actions = fc.record({
  do: fc.constant('bulk-delete'),
  requests: fc.array(request, { minLength: 1, maxLength: 5 }),
});
/** Removes an end-user. */
export const deleteUser: Actions = fc.record({ do: fc.constant('delete-user'), account, user });
/** An operator changes a balance. */
export const changeBalance: Actions = fc.record({
  do: fc.constantFrom('top-up', 'adjust'),
  account,
  amount: between(1, 200),
  repeats: fc.nat(2),
});
const limits = {
  perDay: fc.constantFrom(null, 0, 6, 25, 60),
  perMonth: fc.constantFrom(null, null, 20, 70),
};
/** Budgets are set, changed and lifted. */
export const setBudget: Actions = chosenFrom<Action>(
  [3, fc.record({ do: fc.constant('set-budget'), account, user, ...limits })],
  [1, fc.record({ do: fc.constant('set-key-budget'), account, ...limits })],
);
/** The reconciler runs. */
export const reconcile: Actions = fc.record({ do: fc.constant('reconcile') });
/** Reads a list, or the balance and its history. */
export const listings: Actions = fc.record({ do: fc.constantFrom('list', 'balance'), account });
const abortIn: Actions = fc.record({
  do: fc.constant('abort-in'),
  pick,
  afterMs: fc.nat(60),
  kills: fc.boolean(),
});
/** An execution is stopped while files are stored; the process at work goes on. */
export const abortStoring: Actions = fc.record({
  do: fc.constant('abort-in'),
  pick: fc.constant(TASKS.indexOf('Store outputs')),
  afterMs: fc.nat(1_500),
  kills: fc.constant(false),
});
/** Every process dies. */
export const crash: Actions = fc.record({ do: fc.constant('crash'), afterMs: fc.nat(150) });
/** A run of the reconciler dies, overlaps with another run or is late, at any moment of its minute. */
export const reconciler: Actions = fc.record({
  do: fc.constant('reconciler'),
  how: fc.constantFrom('dies', 'dies', 'runs-twice', 'is-late'),
  afterMs: fc.oneof(fc.nat(60), fc.nat(60_000)),
});
/** Something goes wrong with what is done next. */
export const fault: Actions = fc.record({
  do: fc.constant('fault'),
  gap: fc.oneof(fc.nat(3), fc.nat(20)),
  fault: fc.oneof(fc.constantFrom(...FAULTS), fc.constantFrom(...INVOCATION_FAULTS)),
});
/** An outage of one of the services, for up to a quarter of a minute or to a minute and a half. */
export const outageOf = (...services: readonly Service[]): Actions =>
  fc.record({
    do: fc.constant('outage'),
    service: fc.constantFrom(...services),
    mode: fc.constantFrom(...OUTAGE_MODES),
    lengthMs: fc.oneof(between(500, 15_000), between(15_000, 90_000)),
    pick,
  });
/** A provider that has revoked our credential, or is silent, full, broken or out of reach, for minutes. */
export const providerOutage: Actions = fc.record({
  do: fc.constant('outage'),
  service: fc.constantFrom(...PROVIDERS),
  mode: fc.constantFrom('revoked', 'revoked', 'hangs', 'throttles', 'breaks', 'refuses'),
  lengthMs: between(60_000, 900_000),
  pick,
});
/** A provider that takes nothing for up to two hours: its quota is used up, or it turns away, refuses or ignores every call. */
export const longOutage: Actions = fc.record({
  do: fc.constant('outage'),
  service: fc.constantFrom('modelark', 'modelstudio'),
  mode: fc.constantFrom('quota', 'quota', 'quota', 'throttles', 'throttles', 'refuses', 'revoked', 'hangs'),
  lengthMs: between(600_000, 7_200_000),
  pick,
});
/** Machines whose clocks are minutes ahead or behind. */
export const bentClock: Actions = fc.record({
  do: fc.constant('clock'),
  offsetMs: fc.constantFrom(-290_000, -120_000, 120_000, 290_000),
  lengthMs: between(30_000, 300_000),
});
/** A function that Lambda takes no run of, for up to 90 minutes. */
export const throttleFunction: Actions = fc.record({
  do: fc.constant('throttle-function'),
  pick: pick,
  lengthMs: fc.oneof(between(60_000, 600_000), between(600_000, 5_400_000)),
});
/** What operators, the network and machines do to work under way. */
export const meddle: Actions = chosenFrom<Action>(
  [
    7,
    fc.record({
      do: fc.constantFrom(
        ...(['abort', 'redeliver', 'redeliver', 'fail', 'retry-webhook'] as const),
        ...(['callback', 'forged-callback'] as const),
      ),
      pick,
    }),
  ],
  [3, abortIn],
  [1, crash],
  [1, reconciler],
  [3, fault],
  [2, outageOf('table', 'table', 'index', 'bucket', 'functions', 'step-functions')],
);

/** A deployment with other routes, or other limits of them. */
export const reroute: Actions = fc.record({
  do: fc.constantFrom('set-route', 'set-route', 'set-running', 'set-running', 'unroute'),
  pick,
});
/** Operators leave routes by hand, and return to them. */
export const leaveRoutes: Actions = fc.record({
  do: fc.constantFrom('leave-route', 'leave-route', 'return-route'),
  pick,
});
/** The ledgers are verified while they change. */
export const verifyLedgers: Actions = fc.record({ do: fc.constant('verify-ledgers'), full: fc.boolean() });
/** An operator replaces a provider's key, or the secret behind callback URLs. */
export const rotateSecret: Actions = fc.record({
  do: fc.constant('rotate-secret'),
  pick,
  isLeaked: fc.boolean(),
});

/** Everything but creations and single requests. */
export const others: Actions = fc.oneof(
  bulkDelete,
  listings,
  fc.record({ do: fc.constantFrom('block', 'unblock', 'delete-user'), account, user }),
  changeBalance,
  setBudget,
  fc.record({ do: fc.constantFrom('block-account', 'unblock-account'), account }),
  fc.record({ do: fc.constantFrom('replace-key', 'set-limits'), account }),
  fc.record({ do: fc.constantFrom('set-rate', 'switch-model', 'set-retention', 'redeploy'), pick }),
  reroute,
  leaveRoutes,
  rotateSecret,
  verifyLedgers,
  meddle,
  fc.record({ do: fc.constantFrom('reconcile', 'sweep', 'wait') }),
);
