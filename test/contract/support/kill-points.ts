import type { Fault } from '@generation-service/local-aws/faults';
import { aGeneration, unique } from './client.ts';
import { uniqueEmail } from './resources.ts';
import { aVideo } from './videos.ts';

/** A creation that a caller repeats under the same idempotency key until it is answered. */
export interface Wish {
  path: '/v1/generations' | '/v1/videos';
  body: Record<string, unknown>;
  idempotencyKey: string;
  /** Who pays. Two who pay at once from one account can refuse each other's first try: one who is alone is never refused. */
  account: 'alone' | 'shared';
  /** How it ends unless its call is lost: with all of its outputs, with half of them, or refused by its upstream. */
  ending: 'whole' | 'half' | 'refused';
}

/** A moment of a request's life, and a wish that comes to it. */
export interface KillPoint {
  when: string;
  wish: Wish;
  fault: Fault;
  /** CDK context of the run that is killed then. */
  context?: Record<string, number>;
  /** Where the kill takes the caller's answer: whether what they wanted was accepted all the same. */
  acceptedUnheard?: boolean;
  /** Whether its outputs have been made and stored by then: no kill takes them away any more. */
  madeByThen?: boolean;
  /** The one that `npm test` kills at. */
  isQuick?: boolean;
}

const wish = (path: Wish['path'], ending: Wish['ending'], body: Record<string, unknown>): Wish => ({
  path,
  body: { ...body, endUserEmail: uniqueEmail() },
  idempotencyKey: unique(),
  account: 'alone',
  ending,
});

/** Made by its provider at once. */
export const aPicture = (): Wish => wish('/v1/generations', 'whole', aGeneration({ size: '256x256' }));

/** A task of two images, one of which cannot be had: half of the price comes back. */
const halfOfTwo = (): Wish => {
  const body = { model: 'xQI3Pro', size: '512x512', n: 2, prompt: unique('[broken=1]') };
  return wish('/v1/generations', 'half', aGeneration(body));
};

const refused = (): Wish =>
  wish('/v1/generations', 'refused', aGeneration({ prompt: unique('[fail=content_policy]') }));

/** A task that is polled. */
const video = (): Wish => wish('/v1/videos', 'whole', aVideo({ model: 'xW3.0s' }));

/** A task whose provider calls back, to an address that is gone with the run. */
const calledBackVideo = (): Wish => wish('/v1/videos', 'whole', aVideo({ model: 'xW3.0sPro' }));

/** What else is in flight at each kill: no videos, so that a fault in the creation of one is met by the wish. */
export const companions = (): Wish[] =>
  [aPicture(), halfOfTwo(), refused()].map((each) => ({ ...each, account: 'shared' }));

/** A fault in the transaction that creates or ends the request of a wish: no other holds its end-user's address. */
const inTransaction = (caller: string, { body }: Wish, effect: Fault['effect']): Fault => ({
  ...{ call: 'dynamodb:TransactWriteItems', principal: `*${caller}Function*`, effect },
  contains: String(body.endUserEmail),
});

const unwritten = aPicture();
const unstarted = aPicture();
const unsettled = halfOfTwo();
const settled = halfOfTwo();

/**
 * In the order of a request's life, so that what takes longest to be found lost has longest. Only transactions tell
 * whose they are beforehand: elsewhere the first request that comes to the call meets the fault, a companion for one.
 */
export const KILL_POINTS: readonly KillPoint[] = [
  {
    when: 'before an image is written and paid',
    wish: unwritten,
    fault: inTransaction('CreateGeneration', unwritten, 'kill-before'),
    acceptedUnheard: false,
  },
  {
    when: 'after an image is written and paid, before its execution is started',
    wish: unstarted,
    fault: inTransaction('CreateGeneration', unstarted, 'kill-after'),
    acceptedUnheard: true,
  },
  {
    when: 'after the execution of a video is started, before its caller is answered',
    wish: video(),
    fault: { call: 'states:StartExecution', principal: '*CreateVideo*', effect: 'kill-after' },
    acceptedUnheard: true,
  },
  {
    when: 'after a call to the provider is claimed, before it is made',
    wish: aPicture(),
    fault: { call: 'dynamodb:PutItem', principal: '*DispatchRequest*', effect: 'kill-after' },
  },
  {
    when: 'after the provider has accepted a task, before it is known',
    wish: video(),
    fault: {
      ...{ call: 'dynamodb:UpdateItem', principal: '*DispatchRequest*', contains: 'taskId = ' },
      effect: 'kill-before',
    },
  },
  {
    when: 'while a video waits under a task token for its callback',
    wish: calledBackVideo(),
    fault: {
      ...{ call: 'dynamodb:UpdateItem', principal: '*AwaitProvider*', contains: 'vid_' },
      effect: 'kill-after',
    },
  },
  {
    when: 'after the file of a video is stored, before it is recorded',
    isQuick: true,
    wish: video(),
    fault: { call: 's3:PutObject', principal: '*StoreOutputs*', contains: 'vid_', effect: 'kill-after' },
  },
  {
    when: 'before a request is settled and half of it refunded',
    wish: unsettled,
    fault: inTransaction('SettleRequest', unsettled, 'kill-before'),
    madeByThen: true,
  },
  {
    when: 'after a request is settled and half of it refunded, before what follows is started',
    wish: settled,
    fault: inTransaction('SettleRequest', settled, 'kill-after'),
    madeByThen: true,
  },
  {
    when: 'after expired files are removed, before their record is marked',
    wish: aPicture(),
    fault: { call: 's3:DeleteObjects', principal: '*ExpireRequest*', effect: 'kill-after' },
    context: { outputTtlSeconds: 1 },
  },
];
