import fc from 'fast-check';
import { type Action, MODELS, type ModelName, type Removal, TASKS } from './actions.ts';
import { CALL_FAULTS, FAULTS, INVOCATION_FAULTS, type PlannedFault } from './engine/faults.ts';
import { OUTAGE_MODES, type Service } from './engine/outages.ts';
import { CLIP_KINDS } from './upstream/clips.ts';
import { BEHAVIOURS, type Behaviour, CALLBACKS } from './upstream/providers.ts';
import { RECEIVERS } from './upstream/receivers.ts';

const account = fc.nat(1);
/** One account makes most of the requests. */
const crowd = fc.constantFrom(0, 0, 0, 1);
const user = fc.nat(1);
/** Which of those that there are. */
export const pick = fc.nat(19);
const request = fc.nat(11);

/** Concurrent operations on a creation's end-user, its account or the request itself. */
const BESIDE = [
  ...(['block', 'delete-user', 'block-account', 'top-up', 'fail'] as const),
  ...(['set-budget', 'set-key-budget'] as const),
] as const;

const removalOf: fc.Arbitrary<Removal> = fc.record({
  lagMs: fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    { weight: 4, arbitrary: fc.integer({ min: 5_000, max: 20_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 20_000, max: 300_000 }) },
  ),
  removeMs: fc.nat(2_000),
  reconcileMs: fc.nat(8_000),
  outage: fc.option(
    fc.record({
      mode: fc.constantFrom('refuses' as const, 'throttles' as const),
      lengthMs: fc.integer({ min: 2_000, max: 40_000 }),
    }),
    { nil: undefined },
  ),
});

/** Within the calls that a creation makes; an answer that is lost more often than the rest. */
const ownFault: fc.Arbitrary<PlannedFault> = fc.record({
  gap: fc.nat(9),
  fault: fc.oneof(
    fc.constantFrom(...CALL_FAULTS),
    fc.constantFrom('answer-lost' as const, 'answer-lost-always' as const),
  ),
});

/** Mostly one that can be used. */
const clipKind = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('mp4' as const, 'mov' as const, 'webm' as const) },
  { weight: 2, arbitrary: fc.constantFrom(...CLIP_KINDS) },
);

/** What is chosen for a creation, if not at random. */
export interface CreationBias {
  /** Whether one account makes most of them. */
  isCrowd?: boolean;
  models?: readonly ModelName[];
  /** What becomes of a quarter of them. */
  behaviour?: Behaviour;
  /** How often somebody does something beside it, of 8. */
  beside?: number;
  /** What that may be. */
  besides?: readonly (typeof BESIDE)[number][];
  /** How often it has a webhook, of 8. */
  webhook?: number;
  /** How often it has reference videos, of 8, if its model takes them. */
  clips?: number;
  /** How often its end-user is removed after its end, of 8. */
  removal?: number;
  /** How often something goes wrong as it is sent, of 8. */
  fault?: number;
  /** How often its provider revokes our credential shortly before its deadline, of 8. */
  revoked?: number;
}

/** A creation. */
export const createOf = ({
  isCrowd = false,
  models = MODELS,
  behaviour = 'works',
  beside = 1,
  besides = BESIDE,
  webhook = 6,
  clips = 1,
  removal = 0,
  fault = 1,
  revoked = 0,
}: CreationBias = {}): fc.Arbitrary<Action> =>
  fc.record({
    do: fc.constant('create' as const),
    account: isCrowd ? crowd : account,
    user,
    model: fc.constantFrom(...models),
    outputs: fc.integer({ min: 1, max: 4 }),
    behaviour: fc.oneof(
      { weight: 2, arbitrary: fc.constant<Behaviour>('works') },
      { weight: 2, arbitrary: fc.constant(behaviour) },
      { weight: 4, arbitrary: fc.constantFrom(...BEHAVIOURS) },
    ),
    callback: fc.constantFrom(...CALLBACKS),
    webhook: sometimes(webhook, fc.constantFrom(...RECEIVERS)),
    clips: sometimes(clips, fc.array(clipKind, { minLength: 1, maxLength: 2 })),
    key: fc.option(fc.nat(2), { nil: undefined }),
    repeats: fc.nat(2),
    atOnce: fc.constantFrom(1, 1, 1, 2),
    beside: sometimes(beside, fc.record({ do: fc.constantFrom(...besides), afterMs: fc.nat(50) })),
    fault: sometimes(fault, ownFault),
    revokedMs: sometimes(revoked, fc.integer({ min: 30_000, max: 290_000 })),
    afterEnd: sometimes(removal, removalOf),
  });

/** Several creations within moments or seconds, for one of the routes with little room. */
export const crowdOf: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('crowd' as const),
  account,
  user,
  model: fc.constantFrom('xSD4.5' as const, 'xW3.0s' as const, 'xW3.0s' as const),
  count: fc.integer({ min: 3, max: 6 }),
  everyMs: fc.oneof(fc.nat(40), fc.nat(800)),
});

/** A value in `ofEight` of eight cases, else undefined. */
const sometimes = <T>(ofEight: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 8 - ofEight, arbitrary: fc.constant(undefined) }, { weight: ofEight, arbitrary });

/** Reads or deletes a request, its own account or another. */
export const onRequest: fc.Arbitrary<Action> = fc.record({
  do: fc.constantFrom(...(['read', 'read', 'read', 'delete', 'delete', 'delete', 'intrude'] as const)),
  request,
});
/** Deletes several requests. */
export const bulkDelete: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('bulk-delete' as const),
  requests: fc.array(request, { minLength: 1, maxLength: 5 }),
});
/** Removes an end-user. */
export const deleteUser: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('delete-user' as const),
  account,
  user,
});
/** An operator changes a balance. */
export const changeBalance: fc.Arbitrary<Action> = fc.record({
  do: fc.constantFrom('top-up' as const, 'adjust' as const),
  account,
  amount: fc.integer({ min: 1, max: 200 }),
  repeats: fc.nat(2),
});
const limits = {
  perDay: fc.constantFrom(null, 0, 6, 25, 60),
  perMonth: fc.constantFrom(null, null, 20, 70),
};
/** Budgets are set, changed and lifted. */
export const setBudget: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('set-budget' as const), account, user, ...limits }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('set-key-budget' as const), account, ...limits }) },
);
/** The reconciler runs. */
export const reconcile: fc.Arbitrary<Action> = fc.record({ do: fc.constant('reconcile' as const) });
/** Reads a list, or the balance and its history. */
export const looks: fc.Arbitrary<Action> = fc.record({
  do: fc.constantFrom('list' as const, 'balance' as const),
  account,
});
const abortIn: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('abort-in' as const),
  pick,
  afterMs: fc.nat(60),
  kills: fc.boolean(),
});
/** An execution is stopped while files are stored; the process at work goes on. */
export const abortStoring: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('abort-in' as const),
  pick: fc.constant(TASKS.indexOf('Store outputs')),
  afterMs: fc.nat(1_500),
  kills: fc.constant(false),
});
/** Every process dies. */
export const crash: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('crash' as const),
  afterMs: fc.nat(150),
});
/** A run of the reconciler dies, meets another or is late, at any moment of the minute that it may last. */
export const reconciler: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('reconciler' as const),
  how: fc.constantFrom('dies' as const, 'dies' as const, 'runs-twice' as const, 'is-late' as const),
  afterMs: fc.oneof(fc.nat(60), fc.nat(60_000)),
});
/** Something goes wrong with what is done next. */
export const fault: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('fault' as const),
  gap: fc.oneof(fc.nat(3), fc.nat(20)),
  fault: fc.oneof(fc.constantFrom(...FAULTS), fc.constantFrom(...INVOCATION_FAULTS)),
});
/** An outage of one of the services, for up to a quarter of a minute or to a minute and a half. */
export const outageOf = (...services: readonly Service[]): fc.Arbitrary<Action> =>
  fc.record({
    do: fc.constant('outage' as const),
    service: fc.constantFrom(...services),
    mode: fc.constantFrom(...OUTAGE_MODES),
    lengthMs: fc.oneof(fc.integer({ min: 500, max: 15_000 }), fc.integer({ min: 15_000, max: 90_000 })),
    pick,
  });
/** A provider that has revoked our credential, or is silent, full, broken or out of reach, for minutes. */
export const providerOutage: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('outage' as const),
  service: fc.constantFrom('modelark' as const, 'modelstudio' as const),
  mode: fc.constantFrom(...(['revoked', 'revoked', 'hangs', 'throttles', 'breaks', 'refuses'] as const)),
  lengthMs: fc.integer({ min: 60_000, max: 900_000 }),
  pick,
});
/** What operators, the network and machines do to work under way. */
export const meddle: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constantFrom(
        ...([
          'abort',
          'redeliver',
          'redeliver',
          'fail',
          'retry-webhook',
          'callback',
          'forged-callback',
        ] as const),
      ),
      pick,
    }),
  },
  { weight: 3, arbitrary: abortIn },
  { weight: 1, arbitrary: crash },
  { weight: 1, arbitrary: reconciler },
  { weight: 3, arbitrary: fault },
  { weight: 2, arbitrary: outageOf('table', 'table', 'index', 'bucket', 'functions', 'step-functions') },
);

/** A deployment with other routes, or other limits of them. */
export const reroute: fc.Arbitrary<Action> = fc.record({
  do: fc.constantFrom(...(['set-route', 'set-route', 'set-running', 'set-running', 'unroute'] as const)),
  pick,
});
/** The ledgers are verified while they change. */
export const verifyLedgers: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('verify-ledgers' as const),
  full: fc.boolean(),
});
/** An operator replaces a provider's key, or the secret behind callback URLs. */
export const rotateSecret: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('rotate-secret' as const),
  pick,
  isLeaked: fc.boolean(),
});

/** Everything but creations and single requests. */
export const others: fc.Arbitrary<Action> = fc.oneof(
  bulkDelete,
  looks,
  fc.record({
    do: fc.constantFrom('block' as const, 'unblock' as const, 'delete-user' as const),
    account,
    user,
  }),
  changeBalance,
  setBudget,
  fc.record({ do: fc.constantFrom('block-account' as const, 'unblock-account' as const), account }),
  fc.record({ do: fc.constantFrom('replace-key' as const, 'set-limits' as const), account }),
  fc.record({
    do: fc.constantFrom(...(['set-rate', 'switch-model', 'set-retention', 'redeploy'] as const)),
    pick,
  }),
  reroute,
  rotateSecret,
  verifyLedgers,
  meddle,
  fc.record({ do: fc.constantFrom('reconcile' as const, 'sweep' as const, 'wait' as const) }),
);
