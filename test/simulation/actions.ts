import fc from 'fast-check';
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

const create: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('create' as const),
  account,
  user,
  model: fc.constantFrom(...MODELS),
  outputs: fc.integer({ min: 1, max: 4 }),
  behaviour: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Behaviour>('works') },
    { weight: 4, arbitrary: fc.constantFrom(...BEHAVIOURS) },
  ),
  callback: fc.constantFrom(...CALLBACKS),
  webhook: fc.option(fc.constantFrom(...RECEIVERS), { nil: undefined }),
  key: fc.option(fc.nat(2), { nil: undefined }),
  repeats: fc.nat(2),
  atOnce: fc.constantFrom(1, 1, 1, 2),
  beside: fc.oneof(
    { weight: 7, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constantFrom(
          'block' as const,
          'delete-user' as const,
          'block-account' as const,
          'top-up' as const,
          'fail' as const,
        ),
        afterMs: fc.nat(50),
      }),
    },
  ),
});

const onRequest: fc.Arbitrary<Action> = fc.record({
  do: fc.constantFrom(
    'read' as const,
    'read' as const,
    'read' as const,
    'delete' as const,
    'delete' as const,
    'delete' as const,
    'intrude' as const,
  ),
  request,
});

const others: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    do: fc.constant('bulk-delete' as const),
    requests: fc.array(request, { minLength: 1, maxLength: 5 }),
  }),
  fc.record({ do: fc.constantFrom('list' as const, 'balance' as const), account }),
  fc.record({
    do: fc.constantFrom('block' as const, 'unblock' as const, 'delete-user' as const),
    account,
    user,
  }),
  fc.record({
    do: fc.constantFrom('top-up' as const, 'adjust' as const),
    account,
    amount: fc.integer({ min: 1, max: 200 }),
    repeats: fc.nat(2),
  }),
  fc.record({ do: fc.constantFrom('block-account' as const, 'unblock-account' as const), account }),
  fc.record({ do: fc.constantFrom('replace-key' as const, 'set-limits' as const), account }),
  fc.record({
    do: fc.constantFrom(
      'set-rate' as const,
      'set-route' as const,
      'set-retention' as const,
      'redeploy' as const,
    ),
    pick,
  }),
  fc.record({
    do: fc.constantFrom(
      'abort' as const,
      'redeliver' as const,
      'redeliver' as const,
      'fail' as const,
      'retry-webhook' as const,
      'callback' as const,
      'forged-callback' as const,
    ),
    pick,
  }),
  fc.record({ do: fc.constantFrom('reconcile' as const, 'sweep' as const, 'wait' as const) }),
);

/** Mostly moments, in which things overlap; now and then minutes, hours or a day. */
const waitMs = fc.oneof(
  { weight: 4, arbitrary: fc.nat(30) },
  { weight: 3, arbitrary: fc.integer({ min: 30, max: 20_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(180_000, 900_000, 7_200_000, 86_400_000) },
);

export const step: fc.Arbitrary<Step> = fc.record({
  action: fc.oneof(
    { weight: 4, arbitrary: create },
    { weight: 3, arbitrary: onRequest },
    { weight: 4, arbitrary: others },
  ),
  waitMs,
});

/** A step as a report shows it. */
export const stepText = ({ action, waitMs: wait }: Step): string => {
  const { do: what, ...how } = action;
  const details = Object.entries(how)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return `${[what, ...details].join(' ')}; ${wait} ms`;
};
