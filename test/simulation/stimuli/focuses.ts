import fc from 'fast-check';
import type { Action, Step } from './actions.ts';
import { type CreationBias, createOf, crowdOf, largeCrowd, openAiCalls } from './drawn-creations.ts';
import * as some from './stimuli.ts';
import { between, chosenFrom, type Weighted } from './stimuli.ts';

const MOMENTS = fc.nat(30);
const SECONDS = between(30, 20_000);
const HOURS = fc.constantFrom(180_000, 900_000, 7_200_000, 86_400_000);

const focus = (
  weight: number,
  actions: Weighted<Action>,
  ...waits: Weighted<number>
): Weighted<Step>[number] => [
  weight,
  fc.record({ action: chosenFrom(...actions), waitMs: chosenFrom(...waits) }),
];

/** Mostly moments, in which things overlap; now and then minutes, hours or a day. */
const ANY_TIME: Weighted<number> = [
  [4, MOMENTS],
  [3, SECONDS],
  [1, HOURS],
];

/** Creations that end soon. */
const QUICK: CreationBias = { models: ['xSD4.5', 'xQI3Pro', 'xZI1.0Pro'], behaviour: 'instant' };

/**
 * The focus of a run's steps, and how often it is drawn. Most runs do everything. Focused runs repeat one kind of
 * step, until the step has met itself and every fault.
 */
export const FOCUSES: Weighted<Step> = [
  focus(
    4,
    [
      [4, createOf()],
      [1, openAiCalls],
      [3, some.onRequest],
      [4, some.others],
    ],
    ...ANY_TIME,
  ),
  // Deletion: finished work removed one by one, in bulk and with its end-user, at once with what is new.
  focus(
    1,
    [
      [4, createOf({ ...QUICK, beside: 3, besides: ['block', 'delete-user'], removal: 3 })],
      [2, some.onRequest],
      [3, some.bulkDelete],
      [3, some.deleteUser],
      [2, some.fault],
      [2, some.outageOf('table', 'table', 'index', 'index', 'bucket')],
      [1, some.crash],
      [2, some.reconcile],
    ],
    [2, MOMENTS],
    [4, SECONDS],
    [1, HOURS],
  ),
  // Money: operators and creations change the same two balances.
  focus(
    1,
    [
      [3, createOf({ beside: 4, besides: ['block-account', 'top-up', 'block'], fault: 4 })],
      [5, some.changeBalance],
      [2, some.verifyLedgers],
      [2, some.fault],
      [1, some.listings],
      [1, some.meddle],
    ],
    [4, MOMENTS],
    [2, SECONDS],
  ),
  // Budgets: set, changed and lifted while their owners create, and get refunds, over days.
  focus(
    1,
    [
      [
        5,
        createOf({
          ...{ ...QUICK, isCrowd: true, fault: 2 },
          ...{ beside: 3, besides: ['fail', 'top-up', 'set-budget', 'set-key-budget'] },
        }),
      ],
      [3, some.setBudget],
      [2, some.changeBalance],
      [1, some.onRequest],
      [1, some.deleteUser],
      [1, some.fault],
      [1, some.outageOf('table', 'index')],
    ],
    [5, MOMENTS],
    [3, SECONDS],
    [1, HOURS],
  ),
  // Capacity: more requests than their providers take at once, and what disturbs those that wait.
  focus(
    2,
    [
      [4, createOf({ models: ['xSD4.5', 'xZI1.0Pro', 'xW3.0s', 'xW3.0s'], behaviour: 'slow' })],
      [4, createOf({ isCrowd: true, models: ['xSD4.5', 'xW3.0s', 'xW3.0s'], behaviour: 'slow' })],
      [3, some.changeBalance],
      [2, some.meddle],
      [1, some.crash],
      [1, some.reconciler],
      [1, some.outageOf('step-functions', 'functions', 'table')],
      [2, some.reroute],
      [1, some.leaveRoutes],
      [1, fc.record({ do: fc.constant('redeploy'), pick: some.pick })],
      [1, some.reconcile],
    ],
    [5, MOMENTS],
    [2, SECONDS],
  ),
  // OpenAI's clients: equal calls, whose connections break, while things go wrong.
  focus(
    1,
    [
      [6, openAiCalls],
      [1, some.changeBalance],
      [1, some.fault],
      [1, some.crash],
      [1, some.outageOf('table', 'functions')],
    ],
    [1, MOMENTS],
    [4, SECONDS],
    [2, HOURS],
  ),
  // Turns: requests that end at once, at routes with room for one or two requests, while further requests begin to
  // wait.
  focus(
    1,
    [
      [2, crowdOf],
      [1, createOf({ models: ['xSD4.5', 'xW3.0s'], behaviour: 'slow' })],
      [1, some.fault],
      [1, some.crash],
      [1, some.reconciler],
      [1, some.outageOf('table', 'step-functions', 'functions')],
    ],
    [3, MOMENTS],
    [3, between(30, 1_500)],
    [1, SECONDS],
  ),
  // Waiting: videos, their callbacks and what disturbs them.
  focus(
    1,
    [
      [4, createOf({ models: ['xW2.7S', 'xW3.0s', 'xQI3Pro'], behaviour: 'instant', revoked: 1 })],
      [2, createOf({ models: ['xW3.0s'], behaviour: 'instant', clips: 8, beside: 2, fault: 3 })],
      [2, createOf({ behaviour: 'slow-files' })],
      [2, some.abortStoring],
      [2, some.onRequest],
      [3, some.meddle],
      [1, some.providerOutage],
      [1, some.rotateSecret],
    ],
    ...ANY_TIME,
  ),
  // Routes: providers that fail for minutes while requests come, of models that have two.
  focus(
    1,
    [
      [8, createOf({ behaviour: 'instant', fault: 0 })],
      [2, some.providerOutage],
      [1, some.reroute],
      [1, some.fault],
      [1, some.crash],
    ],
    [3, MOMENTS],
    [4, SECONDS],
  ),
  // Signatures: images in several tasks at a provider that signs its callbacks, some of which are late, double, forged or of another task.
  focus(
    1,
    [
      [6, createOf({ isCrowd: true, models: ['xSD5Pro'], behaviour: 'instant', webhook: 2 })],
      [2, createOf({ models: ['xSD5Pro'], behaviour: 'slow' })],
      [3, some.changeBalance],
      [2, some.meddle],
      [1, some.crash],
      [1, some.providerOutage],
      [1, some.rotateSecret],
      [1, some.onRequest],
    ],
    ...ANY_TIME,
  ),
  // Left routes: operators leave routes and return to them, while requests come and wait.
  focus(
    1,
    [
      [5, createOf({ behaviour: 'instant', fault: 0, webhook: 1 })],
      [2, createOf({ models: ['xSD4.5', 'xW3.0s'], behaviour: 'slow', fault: 0 })],
      [1, crowdOf],
      [3, some.leaveRoutes],
      [1, some.providerOutage],
      [1, some.fault],
    ],
    [3, MOMENTS],
    [4, SECONDS],
  ),
  // Lists: many tasks at once at a provider that lists them.
  focus(
    1,
    [
      [12, createOf({ models: ['xQI3Pro'], behaviour: 'slow', fault: 1 })],
      [2, createOf({ models: ['xW2.7S', 'xW3.0s'], behaviour: 'slow' })],
      [1, some.fault],
      [1, some.crash],
      [1, some.providerOutage],
      [1, some.onRequest],
    ],
    [5, MOMENTS],
    [2, between(30, 5_000)],
  ),
  // One route: a provider takes nothing for hours while requests come, of models that have another, and go on coming.
  focus(
    1,
    [
      [
        8,
        createOf({
          behaviour: 'instant',
          models: ['xSD4.5', 'xQI3Pro', 'xW2.7S'],
          fault: 0,
          webhook: 1,
        }),
      ],
      [2, crowdOf],
      [1, some.longOutage],
      [1, some.leaveRoutes],
      [1, some.fault],
    ],
    [3, MOMENTS],
    [4, SECONDS],
    [1, fc.constantFrom(180_000, 900_000)],
  ),
  // Crowds: some 200 requests at once, in one of some runs, while things go wrong.
  focus(
    1,
    [
      [2, largeCrowd],
      [32, createOf({ isCrowd: true, behaviour: 'slow' })],
      [12, some.fault],
      [8, some.providerOutage],
      [4, some.crash],
      [4, some.reconciler],
      [4, some.outageOf('table', 'functions', 'step-functions')],
      [4, some.onRequest],
    ],
    [3, MOMENTS],
    [4, SECONDS],
  ),
  // Silence: tasks whose end nobody may hear of, since functions of the wait are refused for up to 90 minutes.
  focus(
    1,
    [
      [6, createOf({ models: ['xW2.7S', 'xW3.0s', 'xQI3Pro'], behaviour: 'never', fault: 0, webhook: 1 })],
      [2, some.throttleFunction],
      [1, some.onRequest],
    ],
    [2, MOMENTS],
    [3, SECONDS],
    [1, HOURS],
  ),
  // Clocks: machines that are minutes ahead or behind, among those that are not.
  focus(
    1,
    [
      [6, createOf({ isCrowd: true, behaviour: 'slow' })],
      [2, some.changeBalance],
      [2, some.bentClock],
      [1, some.setBudget],
      [1, some.onRequest],
      [1, some.fault],
    ],
    ...ANY_TIME,
  ),
  // Time: files and records that end while webhooks are still sent.
  focus(
    1,
    [
      [4, createOf({ webhook: 8 })],
      [2, some.onRequest],
      [1, some.listings],
      [1, some.meddle],
    ],
    [2, SECONDS],
    [3, HOURS],
  ),
];
