import type { Fault } from '@generation-service/local-aws/faults';
import { aGeneration, unique } from '../contract/support/client.ts';
import { uniqueEmail } from '../contract/support/resources.ts';
import { aVideo } from '../contract/support/videos.ts';

/** A creation that a caller repeats under the same idempotency key until it is answered. */
export interface Scenario {
  path: '/v1/generations' | '/v1/videos';
  body: Record<string, unknown>;
  idempotencyKey: string;
  /** Every request has its own account: concurrent creations by an account can refuse each other's first attempt. */
  account: 'alone' | 'shared';
  /**
   * How the request ends unless its call is lost: with all outputs, with half of the outputs, or refused by the
   * provider.
   */
  ending: 'whole' | 'half' | 'refused';
}

/** A moment in a request's life, and a creation that reaches it. */
export interface KillPoint {
  when: string;
  scenario: Scenario;
  fault: Fault;
  /** CDK context of the run that is killed. */
  context?: Record<string, number>;
  /** Set if the kill prevents the caller's answer: whether the creation was accepted all the same. */
  acceptedUnanswered?: boolean;
  /** Whether the outputs are stored before the kill, and cannot be lost. */
  outputsStored?: boolean;
}

const scenario = (
  path: Scenario['path'],
  ending: Scenario['ending'],
  body: Record<string, unknown>,
): Scenario => ({
  path,
  body: { ...body, endUserEmail: uniqueEmail() },
  idempotencyKey: unique(),
  account: 'alone',
  ending,
});

/** Answered by its provider at once. */
export const aPicture = (): Scenario =>
  scenario('/v1/generations', 'whole', aGeneration({ size: '512x512' }));

/** A task of two images, one of them not downloadable: half the price is refunded. */
const halfOfTwo = (): Scenario => {
  const body = { model: 'xQI3Pro', size: '512x512', n: 2, prompt: unique('[broken=1]') };
  return scenario('/v1/generations', 'half', aGeneration(body));
};

const refused = (): Scenario =>
  scenario('/v1/generations', 'refused', aGeneration({ prompt: unique('[fail=content_policy]') }));

/** A task that is polled. */
const video = (): Scenario => scenario('/v1/videos', 'whole', aVideo({ model: 'xW3.0s' }));

/** A task whose provider calls back, to an address that ends with the run. */
const calledBackVideo = (): Scenario => scenario('/v1/videos', 'whole', aVideo({ model: 'xW3.0sPro' }));

/** What else is in flight at each kill. No videos, so that a fault in a video's creation hits the scenario's. */
export const companions = (): Scenario[] =>
  [aPicture(), halfOfTwo(), refused()].map((each) => ({ ...each, account: 'shared' }));

/** A fault in the transaction that creates or ends this request, found by the end-user's address. */
const inTransaction = (caller: string, { body }: Scenario, effect: Fault['effect']): Fault => ({
  ...{ call: 'dynamodb:TransactWriteItems', principal: `*${caller}Function*`, effect },
  contains: String(body.endUserEmail),
});

const unwritten = aPicture();
const unstarted = aPicture();
const unsettled = halfOfTwo();
const settled = halfOfTwo();

/**
 * In the order of a request's life, so that losses that take longest to detect have the most time. Only transactions can be
 * matched to a request in advance; any other fault hits the first request that makes the call, even a companion.
 */
export const KILL_POINTS: readonly KillPoint[] = [
  {
    when: 'before an image is written and paid',
    scenario: unwritten,
    fault: inTransaction('CreateGeneration', unwritten, 'kill-before'),
    acceptedUnanswered: false,
  },
  {
    when: 'after an image is written and paid, before its execution is started',
    scenario: unstarted,
    fault: inTransaction('CreateGeneration', unstarted, 'kill-after'),
    acceptedUnanswered: true,
  },
  {
    when: 'after the execution of a video is started, before its caller is answered',
    scenario: video(),
    fault: { call: 'states:StartExecution', principal: '*CreateVideo*', effect: 'kill-after' },
    acceptedUnanswered: true,
  },
  {
    when: 'after a call to the provider is claimed, before it is made',
    scenario: aPicture(),
    fault: {
      ...{ call: 'dynamodb:TransactWriteItems', principal: '*DispatchRequest*', contains: 'claimId' },
      effect: 'kill-after',
    },
  },
  {
    when: 'after the provider has accepted a task, before it is known',
    scenario: video(),
    fault: {
      ...{ call: 'dynamodb:UpdateItem', principal: '*DispatchRequest*', contains: 'taskId = ' },
      effect: 'kill-before',
    },
  },
  {
    when: 'while a video waits under a task token for its callback',
    scenario: calledBackVideo(),
    fault: {
      ...{ call: 'dynamodb:UpdateItem', principal: '*AwaitProvider*', contains: 'vid_' },
      effect: 'kill-after',
    },
  },
  {
    when: 'after the file of a video is stored, before it is recorded',
    scenario: video(),
    fault: { call: 's3:PutObject', principal: '*StoreOutputs*', contains: 'vid_', effect: 'kill-after' },
  },
  {
    when: 'before a request is settled and half of it refunded',
    scenario: unsettled,
    fault: inTransaction('SettleRequest', unsettled, 'kill-before'),
    outputsStored: true,
  },
  {
    when: 'after a request is settled and half of it refunded, before what follows is started',
    scenario: settled,
    fault: inTransaction('SettleRequest', settled, 'kill-after'),
    outputsStored: true,
  },
  {
    when: 'after expired files are removed, before their record is marked',
    scenario: aPicture(),
    fault: { call: 's3:DeleteObjects', principal: '*ExpireRequest*', effect: 'kill-after' },
    context: { outputTtlSeconds: 1 },
  },
];
