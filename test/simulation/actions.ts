import fc from 'fast-check';
import { FAULTS, INVOCATION_FAULTS, type PlannedFault } from './engine/faults.ts';
import { OUTAGE_MODES, type OutageMode, type Service } from './engine/outages.ts';
import { BEHAVIOURS, type Behaviour, CALLBACKS, type CallbackMode } from './upstream/providers.ts';
import { RECEIVERS, type Receiver } from './upstream/receivers.ts';

/** The models that are asked for; the last two are of videos. */
export const MODELS = ['xSD4.5', 'xQI3Pro', 'xZI1.0Pro', 'xW2.7S', 'xW3.0s'] as const;
export type ModelName = (typeof MODELS)[number];

/** Something that a caller, a provider, an operator or time does. Numbers choose among what is there by then. */
export type Action =
  | {
      do: 'create';
      account: number;
      user: number;
      model: ModelName;
      outputs: number;
      behaviour: Behaviour;
      callback: CallbackMode;
      webhook: Receiver | undefined;
      /** Which of a few idempotency keys goes along, if any. */
      key: number | undefined;
      /** How often it is sent again when it is not answered, and how many times at once. */
      repeats: number;
      atOnce: number;
      /** What somebody does to its end-user, its account or itself while it is under way, and when. */
      beside?:
        | { do: 'block' | 'delete-user' | 'block-account' | 'top-up' | 'fail'; afterMs: number }
        | undefined;
    }
  /** `intrude`: another account tries to read and to delete it. */
  | { do: 'read' | 'delete' | 'intrude'; request: number }
  | { do: 'bulk-delete'; requests: number[] }
  | { do: 'list' | 'balance'; account: number }
  | { do: 'block' | 'unblock' | 'delete-user'; account: number; user: number }
  /** `repeats`: how often the command is given again under its idempotency key. */
  | { do: 'top-up' | 'adjust'; account: number; amount: number; repeats: number }
  | { do: 'block-account' | 'unblock-account'; account: number }
  | { do: 'abort' | 'redeliver' | 'fail' | 'retry-webhook' | 'callback' | 'forged-callback'; pick: number }
  /** Stops the next execution that enters one of the states, a moment later; `kills`: the process at work dies with it. */
  | { do: 'abort-in'; pick: number; afterMs: number; kills: boolean }
  /** Every process that is at work a moment later dies. */
  | { do: 'crash'; afterMs: number }
  /** What is done next meets it. */
  | ({ do: 'fault' } & PlannedFault)
  /** A service is out of order from now on; of the table, the items of one request. */
  | { do: 'outage'; service: Service; mode: OutageMode; lengthMs: number; pick: number }
  | { do: 'replace-key' | 'set-limits'; account: number }
  | { do: 'set-rate' | 'set-route' | 'set-retention' | 'redeploy'; pick: number }
  | { do: 'reconcile' | 'sweep' | 'wait' };

/** An action, and how many milliseconds pass before the next one. */
export interface Step {
  action: Action;
  waitMs: number;
}

const account = fc.nat(1);
const user = fc.nat(1);
const pick = fc.nat(19);
const request = fc.nat(11);

/** What somebody does to a creation's end-user, its account or itself while it is under way. */
const BESIDE = ['block', 'delete-user', 'block-account', 'top-up', 'fail'] as const;

/** What is chosen for a creation, if not at random. */
interface CreationBias {
  models?: readonly ModelName[];
  /** What becomes of a quarter of them. */
  behaviour?: Behaviour;
  /** How often somebody does something beside it, of 8. */
  beside?: number;
  /** What that may be. */
  besides?: readonly (typeof BESIDE)[number][];
  /** How often it has a webhook, of 8. */
  webhook?: number;
}

const createOf = ({
  models = MODELS,
  behaviour = 'works',
  beside = 1,
  besides = BESIDE,
  webhook = 6,
}: CreationBias = {}): fc.Arbitrary<Action> =>
  fc.record({
    do: fc.constant('create' as const),
    account,
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
    key: fc.option(fc.nat(2), { nil: undefined }),
    repeats: fc.nat(2),
    atOnce: fc.constantFrom(1, 1, 1, 2),
    beside: sometimes(beside, fc.record({ do: fc.constantFrom(...besides), afterMs: fc.nat(50) })),
  });

/** A value in `ofEight` of eight cases, else undefined. */
const sometimes = <T>(ofEight: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 8 - ofEight, arbitrary: fc.constant(undefined) }, { weight: ofEight, arbitrary });

const onRequest: fc.Arbitrary<Action> = fc.record({
  do: fc.constantFrom(...(['read', 'read', 'read', 'delete', 'delete', 'delete', 'intrude'] as const)),
  request,
});
const bulkDelete: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('bulk-delete' as const),
  requests: fc.array(request, { minLength: 1, maxLength: 5 }),
});
const deleteUser: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('delete-user' as const),
  account,
  user,
});
const changeBalance: fc.Arbitrary<Action> = fc.record({
  do: fc.constantFrom('top-up' as const, 'adjust' as const),
  account,
  amount: fc.integer({ min: 1, max: 200 }),
  repeats: fc.nat(2),
});
const reconcile: fc.Arbitrary<Action> = fc.record({ do: fc.constant('reconcile' as const) });
const looks: fc.Arbitrary<Action> = fc.record({
  do: fc.constantFrom('list' as const, 'balance' as const),
  account,
});
const abortIn: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('abort-in' as const),
  pick,
  afterMs: fc.nat(60),
  kills: fc.boolean(),
});
const crash: fc.Arbitrary<Action> = fc.record({ do: fc.constant('crash' as const), afterMs: fc.nat(150) });
const fault: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('fault' as const),
  gap: fc.oneof(fc.nat(3), fc.nat(20)),
  fault: fc.oneof(fc.constantFrom(...FAULTS), fc.constantFrom(...INVOCATION_FAULTS)),
});
/** An outage of one of the services, for up to a quarter of a minute or to a minute and a half. */
const outageOf = (...services: readonly Service[]): fc.Arbitrary<Action> =>
  fc.record({
    do: fc.constant('outage' as const),
    service: fc.constantFrom(...services),
    mode: fc.constantFrom(...OUTAGE_MODES),
    lengthMs: fc.oneof(fc.integer({ min: 500, max: 15_000 }), fc.integer({ min: 15_000, max: 90_000 })),
    pick,
  });
/** A provider that has revoked our credential, or is silent or full, for minutes. */
const providerOutage: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('outage' as const),
  service: fc.constantFrom('modelark' as const, 'modelstudio' as const),
  mode: fc.constantFrom(...(['revoked', 'revoked', 'hangs', 'throttles'] as const)),
  lengthMs: fc.integer({ min: 60_000, max: 900_000 }),
  pick,
});
const meddle: fc.Arbitrary<Action> = fc.oneof(
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
  { weight: 3, arbitrary: fault },
  { weight: 2, arbitrary: outageOf('table', 'table', 'index', 'bucket', 'functions', 'step-functions') },
);

const others: fc.Arbitrary<Action> = fc.oneof(
  bulkDelete,
  looks,
  fc.record({
    do: fc.constantFrom('block' as const, 'unblock' as const, 'delete-user' as const),
    account,
    user,
  }),
  changeBalance,
  fc.record({ do: fc.constantFrom('block-account' as const, 'unblock-account' as const), account }),
  fc.record({ do: fc.constantFrom('replace-key' as const, 'set-limits' as const), account }),
  fc.record({
    do: fc.constantFrom(...(['set-rate', 'set-route', 'set-retention', 'redeploy'] as const)),
    pick,
  }),
  meddle,
  fc.record({ do: fc.constantFrom('reconcile' as const, 'sweep' as const, 'wait' as const) }),
);

const MOMENTS = fc.nat(30);
const SECONDS = fc.integer({ min: 30, max: 20_000 });
const HOURS = fc.constantFrom(180_000, 900_000, 7_200_000, 86_400_000);

/** How often each is chosen. */
type Weighted<T> = readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[];

const chosenFrom = <T>(weighted: Weighted<T>): fc.Arbitrary<T> =>
  fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const stepOf = (actions: Weighted<Action>, waits: Weighted<number>): fc.Arbitrary<Step> =>
  fc.record({ action: chosenFrom(actions), waitMs: chosenFrom(waits) });

/** Mostly moments, in which things overlap; now and then minutes, hours or a day. */
const ANY_TIME: Weighted<number> = [
  [4, MOMENTS],
  [3, SECONDS],
  [1, HOURS],
];

/** Creations that end soon. */
const QUICK: CreationBias = { models: ['xSD4.5', 'xQI3Pro', 'xZI1.0Pro'], behaviour: 'instant' };

/**
 * What the steps of a run are mostly about, and how often runs are: most are about everything, the others do one kind of thing
 * so often that it meets itself and every fault.
 */
export const FOCUSES: Weighted<Step> = [
  [
    4,
    stepOf(
      [
        [4, createOf()],
        [3, onRequest],
        [4, others],
      ],
      ANY_TIME,
    ),
  ],
  // Deletion: finished work removed one by one, in bulk and with its end-user, at once with what is new.
  [
    1,
    stepOf(
      [
        [4, createOf({ ...QUICK, beside: 4, besides: ['block', 'delete-user'] })],
        [2, onRequest],
        [3, bulkDelete],
        [3, deleteUser],
        [2, fault],
        [2, outageOf('table', 'table', 'index', 'index', 'bucket')],
        [1, crash],
        [2, reconcile],
      ],
      [
        [2, MOMENTS],
        [4, SECONDS],
        [1, HOURS],
      ],
    ),
  ],
  // Money: operators and creations change the same two balances.
  [
    1,
    stepOf(
      [
        [3, createOf({ beside: 2 })],
        [5, changeBalance],
        [2, fault],
        [1, looks],
        [1, meddle],
      ],
      [
        [4, MOMENTS],
        [2, SECONDS],
      ],
    ),
  ],
  // Capacity: more requests than their providers take at once, and what disturbs those that wait.
  [
    2,
    stepOf(
      [
        [8, createOf({ models: ['xSD4.5', 'xZI1.0Pro', 'xW3.0s', 'xW3.0s'], behaviour: 'slow' })],
        [2, meddle],
        [1, fc.record({ do: fc.constantFrom('set-route' as const, 'redeploy' as const), pick })],
        [1, reconcile],
      ],
      [
        [5, MOMENTS],
        [2, SECONDS],
      ],
    ),
  ],
  // Waiting: videos, their callbacks and what disturbs them.
  [
    1,
    stepOf(
      [
        [4, createOf({ models: ['xW2.7S', 'xW3.0s', 'xQI3Pro'], behaviour: 'instant' })],
        [2, onRequest],
        [3, meddle],
        [1, providerOutage],
      ],
      ANY_TIME,
    ),
  ],
  // Time: files and records that end while webhooks are still sent.
  [
    1,
    stepOf(
      [
        [4, createOf({ webhook: 8 })],
        [2, onRequest],
        [1, looks],
        [1, meddle],
      ],
      [
        [2, SECONDS],
        [3, HOURS],
      ],
    ),
  ],
];

/** A step as a report shows it. */
export const stepText = ({ action, waitMs: wait }: Step): string => {
  const { do: what, ...how } = action;
  const details = Object.entries(how)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return `${[what, ...details].join(' ')}; ${wait} ms`;
};
