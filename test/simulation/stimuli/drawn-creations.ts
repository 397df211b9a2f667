import fc from 'fast-check';
import { CALL_FAULTS, type PlannedFault } from '../world/engine/faults.ts';
import { CLIP_KINDS } from '../world/upstream/clips.ts';
import { RECEIVERS } from '../world/upstream/receivers.ts';
import { BEHAVIOURS, type Behaviour, CALLBACKS } from '../world/upstream/wire-formats.ts';
import { MODELS, type ModelName, type Removal } from './actions.ts';
import { type Actions, account, between, chosenFrom, sometimes, user } from './stimuli.ts';

/** One account makes most of the requests. */
const crowd = fc.constantFrom(0, 0, 0, 1);

/** Concurrent operations on a creation's end-user, its account or the request itself. */
const BESIDE = [
  ...(['block', 'delete-user', 'block-account', 'top-up', 'fail'] as const),
  ...(['set-budget', 'set-key-budget'] as const),
] as const;

const removalOf: fc.Arbitrary<Removal> = fc.record({
  lagMs: chosenFrom([5, fc.constant(0)], [4, between(5_000, 20_000)], [1, between(20_000, 300_000)]),
  removeMs: fc.nat(2_000),
  reconcileMs: fc.nat(8_000),
  outage: fc.option(
    fc.record({ mode: fc.constantFrom('refuses', 'throttles'), lengthMs: between(2_000, 40_000) }),
    { nil: undefined },
  ),
});

/** Within the calls that a creation makes; an answer that is lost more often than the rest. */
const ownFault: fc.Arbitrary<PlannedFault> = fc.record({
  gap: fc.nat(9),
  fault: fc.oneof(fc.constantFrom(...CALL_FAULTS), fc.constantFrom('answer-lost', 'answer-lost-always')),
});

/** Mostly one that can be used. */
const clipKind = chosenFrom([3, fc.constantFrom('mp4', 'mov', 'webm')], [2, fc.constantFrom(...CLIP_KINDS)]);

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
}: CreationBias = {}): Actions =>
  fc.record({
    do: fc.constant('create'),
    account: isCrowd ? crowd : account,
    user,
    model: fc.constantFrom(...models),
    outputs: between(1, 4),
    behaviour: chosenFrom<Behaviour>(
      [2, fc.constant('works')],
      [2, fc.constant(behaviour)],
      [4, fc.constantFrom(...BEHAVIOURS)],
    ),
    callback: fc.constantFrom(...CALLBACKS),
    webhook: sometimes(webhook, fc.constantFrom(...RECEIVERS)),
    clips: sometimes(clips, fc.array(clipKind, { minLength: 1, maxLength: 2 })),
    key: fc.option(fc.nat(2), { nil: undefined }),
    repeats: fc.nat(2),
    atOnce: fc.constantFrom(1, 1, 1, 2),
    beside: sometimes(beside, fc.record({ do: fc.constantFrom(...besides), afterMs: fc.nat(50) })),
    fault: sometimes(fault, ownFault),
    revokedMs: sometimes(revoked, between(30_000, 290_000)),
    afterEnd: sometimes(removal, removalOf),
  });

/** When a connection breaks: mostly never, else at any point of a call. */
const lost = chosenFrom<number | undefined>(
  [4, fc.constant(undefined)],
  [2, fc.nat(60)],
  [2, fc.nat(2_000)],
  [2, fc.nat(30_000)],
);

/** Equal calls of OpenAI's clients. */
export const openAiCalls: Actions = fc.record({
  do: fc.constant('openai'),
  account,
  behaviour: chosenFrom<Behaviour>(
    [3, fc.constantFrom('instant', 'works', 'slow')],
    [1, fc.constantFrom(...BEHAVIOURS)],
  ),
  callback: fc.constantFrom(...CALLBACKS),
  counts: fc.constantFrom(true, true, true, false),
  isKeyed: fc.constantFrom(false, false, false, true),
  clients: fc.array(
    fc.record({
      afterMs: fc.oneof(fc.nat(50), fc.nat(6_000)),
      lostMs: fc.array(lost, { minLength: 3, maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  deletedMs: sometimes(1, fc.nat(20_000)),
});

/** Several creations within moments or seconds, for one of the routes with little room. */
export const crowdOf: Actions = fc.record({
  do: fc.constant('crowd'),
  account,
  user,
  model: fc.constantFrom('xSD4.5', 'xW3.0s', 'xW3.0s'),
  count: between(3, 6),
  everyMs: fc.oneof(fc.nat(40), fc.nat(800)),
});

/** Up to 200 creations within a minute or two, at a route with little room or much. */
export const largeCrowd: Actions = fc.record({
  ...{ do: fc.constant('crowd'), account: fc.nat(1), user: fc.nat(1) },
  model: fc.constantFrom('xSD4.5', 'xQI3Pro', 'xW3.0s'),
  count: between(100, 200),
  everyMs: between(50, 600),
});
