import * as z from 'zod/mini';
import { StoredFailure, UNEXPECTED_ERROR } from '../errors.ts';
import { PARAMETER_VALUES } from '../models/model-parameters.ts';
import type { Thousandths } from '../money.ts';
import { addSeconds, type Instant, SECONDS_PER_DAY, toInstant } from '../time.ts';

/** An output of a request, with the measures of the stored file. Without an `objectKey` the file could not be stored. */
export const StoredOutput = z.object({
  index: z.number(),
  objectKey: z.optional(z.string()),
  contentType: z.optional(z.string()),
  sizeBytes: z.optional(z.number()),
  width: z.optional(z.number()),
  height: z.optional(z.number()),
  durationSec: z.optional(z.number()),
  /** Marks of origin that the file carries, detected but not verified; absent without marks. */
  provenance: z.optional(z.object({ c2pa: z.literal(true) })),
});
export type StoredOutput = z.infer<typeof StoredOutput>;

/**
 * Our cost of a request's finished calls at a route: images or billed seconds times the unit cost, absent if the route has no
 * cost. `reportedThousandths`: the same by the usage that the provider reported.
 */
const ProviderCost = z.object({
  route: z.string(),
  costThousandths: z.optional(z.number()),
  reportedThousandths: z.optional(z.number()),
});
export type ProviderCost = z.infer<typeof ProviderCost>;

/**
 * The assignment of a request to a route, by name. `number` counts the request's assignments from 1, and is part of every
 * attempt. `claimId` identifies the latest claim of calls under the assignment.
 */
export const Assignment = z.object({
  route: z.string(),
  number: z.number(),
  claimId: z.optional(z.string()),
});
export type Assignment = z.infer<typeof Assignment>;

/** The stored statuses. `expired` is never stored: a succeeded request reads as expired from `expiresAt` on. */
export const STORED_STATUSES = ['queued', 'processing', 'succeeded', 'failed'] as const;
export type StoredStatus = (typeof STORED_STATUSES)[number];

/**
 * The fields of every request. Prices never change after creation: `unitPriceThousandths` is for one image or
 * one second, `debitThousandths` for the most the request can deliver.
 */
const common = {
  requestId: z.string(),
  accountId: z.string(),
  endUserEmail: z.string(),
  /** The end-user's id, which a later holder of the same address does not have. */
  endUserId: z.string(),
  model: z.string(),
  prompt: z.string(),
  webhookUrl: z.optional(z.string()),
  /** The earliest removal of an own file among the inputs; absent without an own file. */
  inputsExpireAt: z.optional(z.string()),
  /** The names of the routes that refuse the measured input files, while another route accepts them; absent if no route refuses. */
  unfitRoutes: z.optional(z.array(z.string())),
  unitPriceThousandths: z.number(),
  debitThousandths: z.number(),
  createdAt: z.string(),
  /** Retention of the record after its failure or the expiry of its files, by the setting at its creation. */
  retentionDays: z.number(),
  status: z.enum(STORED_STATUSES),
  /** The stored status that only another release knows; `status` is the nearest known status. Nothing is written. */
  unknownStatus: z.optional(z.string()),
  /** The claim of the first provider call. */
  dispatchedAt: z.optional(z.string()),
  /** The route where the request is, from its creation on. */
  assignment: z.optional(Assignment),
  /** Previously assigned routes, where a permit may be left. */
  formerRoutes: z.optional(z.array(z.string())),
  /** Whether the permit is known to be released, after the provider finished. */
  permitReleased: z.optional(z.boolean()),
  outputs: z.optional(z.array(StoredOutput)),
  /** The outputs as far as they are stored, kept when storing is interrupted. Superseded by `outputs`. */
  storedSoFar: z.optional(z.array(StoredOutput)),
  /** The start of storing, kept by an interrupted storing. */
  storingSince: z.optional(z.string()),
  finishedAt: z.optional(z.string()),
  expiresAt: z.optional(z.string()),
  /** The removal of the files after `expiresAt`. */
  expiredAt: z.optional(z.string()),
  /** Failed attempts to remove the files, until the removal. */
  removalFailures: z.optional(z.number()),
  costThousandths: z.optional(z.number()),
  /** The seed that its provider reports. */
  reportedSeed: z.optional(z.number()),
  refundThousandths: z.optional(z.number()),
  /** The numbers of its debit and refund in the ledger. */
  debitEntryNumber: z.optional(z.number()),
  refundEntryNumber: z.optional(z.number()),
  /** Ids of the end-user and the API key for whose budgets its debit was counted; absent when for none. */
  budgetOwners: z.optional(z.array(z.string())),
  /** Our cost of an image or second by each route of its model, fixed at creation. Absent when no cost was set. */
  routeCosts: z.optional(z.catch(z.optional(z.record(z.string(), z.number())), undefined)),
  /** The cost of its provider calls, once it has ended. Of either, a form of another version reads as absent. */
  providerCosts: z.optional(z.catch(z.optional(z.array(ProviderCost)), undefined)),
  error: z.optional(StoredFailure),
  /** The note of the operator who ended the request. */
  operatorNote: z.optional(z.string()),
  /** The due key of a listed request: the partition, and the due time. */
  GSI1PK: z.optional(z.string()),
  GSI1SK: z.optional(z.string()),
  /** Epoch seconds from which the request reads as absent and DynamoDB may remove it. */
  ttl: z.optional(z.number()),
};

const { generateAudio: _, ...imageParameters } = PARAMETER_VALUES;

const urls = () => z._default(z.array(z.string()), []);

/**
 * The fields of a creation of images that are stored as they were asked, with defaults applied; the record's `input` has them too. `size`
 * is a preset or `<width>x<height>`; with a preset, `aspectRatio` gives its shape.
 */
export const ASKED_OF_IMAGES = {
  size: z.string(),
  aspectRatio: z.string(),
  references: urls(),
  ...imageParameters,
  webhookUrl: common.webhookUrl,
};
export type AskedOfImages = z.infer<z.ZodMiniObject<typeof ASKED_OF_IMAGES>>;

/** The fields of a creation of a video. `image` is the first frame. */
export const ASKED_OF_VIDEO = {
  resolution: z.string(),
  durationSec: z.number(),
  ratio: z.optional(z.string()),
  image: z.optional(z.string()),
  lastFrame: z.optional(z.string()),
  referenceImages: urls(),
  referenceVideos: urls(),
  referenceAudios: urls(),
  ...PARAMETER_VALUES,
  webhookUrl: common.webhookUrl,
};
export type AskedOfVideo = z.infer<z.ZodMiniObject<typeof ASKED_OF_VIDEO>>;

/**
 * A request for images as stored. `images` is the most it can deliver. Texts that this version does not know can be read, and are not
 * sent to a provider.
 */
export const ImageRequest = z.object({
  kind: z.literal('image'),
  ...common,
  ...ASKED_OF_IMAGES,
  images: z.number(),
  sequential: z._default(z.boolean(), false),
});
export type ImageRequest = z.infer<typeof ImageRequest>;

/** A request for one video as stored. `billedSeconds` is its duration plus that of the reference videos, rounded up. */
export const VideoRequest = z.object({
  kind: z.literal('video'),
  ...common,
  ...ASKED_OF_VIDEO,
  billedSeconds: z.number(),
  /** The keys of the copies of its reference videos, in their order; absent without any. */
  clips: z.optional(z.array(z.string())),
});
export type VideoRequest = z.infer<typeof VideoRequest>;

export const StoredRequest = z.discriminatedUnion('kind', [ImageRequest, VideoRequest]);
export type StoredRequest = z.infer<typeof StoredRequest>;

/** The part of a request that its ledger entries are verified against. It outlives a deletion, in the request's mark. */
export const AccountedRequest = z.pick(z.object(common), {
  accountId: true,
  status: true,
  createdAt: true,
  finishedAt: true,
  debitThousandths: true,
  costThousandths: true,
  refundThousandths: true,
  debitEntryNumber: true,
  refundEntryNumber: true,
  providerCosts: true,
});
export type AccountedRequest = z.infer<typeof AccountedRequest>;

/**
 * An item of a request with a status that this version knows. One of another version reads as `processing` while the request is
 * unfinished; every end writes `refundThousandths`, and a success `costThousandths`. The stored text stays in `unknownStatus`.
 */
export const withKnownStatus = (item: Record<string, unknown>): Record<string, unknown> => {
  const { status, refundThousandths, costThousandths, error = UNEXPECTED_ERROR } = item;
  const isKnown = STORED_STATUSES.some((known) => known === status);
  if (isKnown || typeof status !== 'string') return item;
  const read = { ...item, unknownStatus: status };
  if (refundThousandths === undefined) return { ...read, status: 'processing' };
  return costThousandths === undefined
    ? { ...read, status: 'failed', error }
    : { ...read, status: 'succeeded' };
};

/** A request has a status that only another release knows, and only that release may change the request. */
class UnknownStatusError extends Error {
  override name = 'UnknownStatusError';
}

/** Throws `UnknownStatusError` for a request with a status of another version. Called before anything is concluded from a status. */
export const checkStatus = ({
  requestId,
  unknownStatus,
}: Pick<StoredRequest, 'requestId' | 'unknownStatus'>): void => {
  if (unknownStatus === undefined) return;
  throw new UnknownStatusError(`Request ${requestId} is ${unknownStatus}, which this version does not know.`);
};

/** The ledger entry numbers of a request: the debit's and, once refunded, the refund's. */
export const entryNumbersOf = ({
  debitEntryNumber,
  refundEntryNumber,
}: Pick<AccountedRequest, 'debitEntryNumber' | 'refundEntryNumber'>): number[] =>
  [debitEntryNumber, refundEntryNumber].filter((number) => number !== undefined);

/** The keys of the copies of a request's reference videos. */
export const clipsOf = (request: StoredRequest): readonly string[] =>
  request.kind === 'video' ? (request.clips ?? []) : [];

/** The status a request reads as: a stored one, or `expired`. */
export const RECORD_STATUSES = [...STORED_STATUSES, 'expired'] as const;
export type RecordStatus = (typeof RECORD_STATUSES)[number];

export const maxOutputs = (request: StoredRequest): number => (request.kind === 'image' ? request.images : 1);

/** Whether a request has ended with all its outputs: its provider has nothing left to do. */
export const gotAll = (request: StoredRequest): boolean =>
  request.status === 'succeeded' && (request.outputs?.length ?? 0) >= maxOutputs(request);

/**
 * The cost of a request that delivered this many outputs. Images are billed one by one, a video as a whole.
 */
export const costOf = (request: StoredRequest, delivered: number): Thousandths => {
  if (request.kind === 'image') return request.unitPriceThousandths * delivered;
  return delivered > 0 ? request.debitThousandths : 0;
};

/** The routes at which a request may have a permit or queue entry: the assigned route and former routes. */
export const routesOfRequest = ({
  assignment,
  formerRoutes = [],
}: Pick<StoredRequest, 'assignment' | 'formerRoutes'>): string[] => [
  ...(assignment ? [assignment.route] : []),
  ...formerRoutes,
];

export const isTerminal = ({ status }: Pick<StoredRequest, 'status'>): boolean =>
  status === 'succeeded' || status === 'failed';

/** Whether a running reconciler will check the request: it is due within a minute. */
export const isDueSoon = ({ GSI1SK }: Pick<StoredRequest, 'GSI1SK'>, now: Date): boolean =>
  GSI1SK !== undefined && GSI1SK <= addSeconds(toInstant(now), SOON_SECONDS);
const SOON_SECONDS = 60;

/** The status a request reads as at `now`, whether or not its files have been removed yet. */
export const statusAt = (request: Pick<StoredRequest, 'status' | 'expiresAt'>, now: Date): RecordStatus =>
  request.status === 'succeeded' &&
  request.expiresAt !== undefined &&
  now.getTime() >= Date.parse(request.expiresAt)
    ? 'expired'
    : request.status;

/** The status of a request, as far as an entry of a request index shows it. */
export type ListedState = 'unfinished' | 'succeeded' | 'failed';
/** The state that an index entry shows: a request gets its `ttl` when it ends, and `expiresAt` when it succeeds. */
export const listedState = ({ ttl, expiresAt }: Pick<StoredRequest, 'ttl' | 'expiresAt'>): ListedState => {
  if (ttl === undefined) return 'unfinished';
  return expiresAt === undefined ? 'failed' : 'succeeded';
};

/** The state of requests that read as `status`. */
export const listedStateOf = (status: RecordStatus): ListedState => {
  if (status === 'expired') return 'succeeded';
  return status === 'queued' || status === 'processing' ? 'unfinished' : status;
};

/**
 * Epoch seconds at which the retention of a request ends: `retentionDays` after it failed or its files
 * expired, rounded up.
 */
export const removalTime = (endedAt: Instant, retentionDays: number): number =>
  Math.ceil(Date.parse(addSeconds(endedAt, retentionDays * SECONDS_PER_DAY)) / 1000);

/** Whether the request is past retention, even if TTL has not removed it. */
export const isRemoved = ({ ttl }: Pick<StoredRequest, 'ttl'>, now: Date): boolean =>
  ttl !== undefined && now.getTime() >= ttl * 1000;
