import { type Failure, STORAGE_FAILED } from './errors.ts';
import { outputId } from './ids.ts';
import { dimensionsOf } from './image-sizes.ts';
import { toXTokens } from './money.ts';
import { type ImageRequest, STORED_STATUSES, type StoredOutput } from './requests.ts';
import { addSeconds, type Instant, SECONDS_PER_DAY, toInstant } from './time.ts';

/** What a request reads as: a stored status, or `expired` once its files are past their time. */
export const RECORD_STATUSES = [...STORED_STATUSES, 'expired'] as const;
export type RecordStatus = (typeof RECORD_STATUSES)[number];

/** One image of a succeeded record: exactly one of `url` and `error`. */
export interface ImageItem {
  id: string;
  size: string;
  expiresAt: Instant;
  url?: string;
  error?: { code: typeof STORAGE_FAILED };
}

interface RecordBase {
  requestId: string;
  model: string;
  prompt: string;
  referencesCount: number;
  endUserEmail: string;
  createdAt: Instant;
}

/** A request for images as the API shows it; each status has exactly these fields. */
export type GenerationRecord = RecordBase &
  (
    | { status: 'queued'; pollUrl: string }
    | { status: 'processing' }
    | { status: 'succeeded'; images: ImageItem[]; cost: number; finishedAt: Instant }
    | { status: 'failed'; error: Failure; finishedAt: Instant }
    | { status: 'expired'; finishedAt: Instant }
  );

/** What rendering a record needs beside the request. */
export interface RenderContext {
  now: Date;
  publicBaseUrl: string;
  /** A URL for a stored file that stops working at `expiresAt`. */
  signUrl: (objectKey: string, expiresAt: Instant) => string;
}

/** How a request reads at `now`, whether or not the store has been told of its expiry. */
export const statusAt = (request: Pick<ImageRequest, 'status' | 'expiresAt'>, now: Date): RecordStatus =>
  request.status === 'succeeded' && request.expiresAt !== undefined && toInstant(now) >= request.expiresAt
    ? 'expired'
    : request.status;

/**
 * Epoch seconds from which a terminal request is gone: `retentionDays` after it failed or its files expired,
 * rounded up.
 */
export const removalTime = (endedAt: Instant, retentionDays: number): number =>
  Math.ceil(Date.parse(addSeconds(endedAt, retentionDays * SECONDS_PER_DAY)) / 1000);

/** Whether what a request was has been over for so long that it reads as absent, swept or not. */
export const isRemoved = ({ ttl }: Pick<ImageRequest, 'ttl'>, now: Date): boolean =>
  ttl !== undefined && now.getTime() >= ttl * 1000;

export const generationUrl = (publicBaseUrl: string, requestId: string): string =>
  `${publicBaseUrl}/v1/generations/${requestId}`;

/** The record of a request that was just accepted. */
export const renderQueued = (request: ImageRequest, publicBaseUrl: string): GenerationRecord => ({
  ...baseOf(request),
  status: 'queued',
  pollUrl: generationUrl(publicBaseUrl, request.requestId),
});

const baseOf = (request: ImageRequest): RecordBase => ({
  requestId: request.requestId,
  model: request.model,
  prompt: request.prompt,
  referencesCount: request.references.length,
  endUserEmail: request.endUserEmail,
  createdAt: request.createdAt,
});

/** The record of a request as it reads at `context.now`. */
export const renderGeneration = (request: ImageRequest, context: RenderContext): GenerationRecord => {
  const base = baseOf(request);
  const status = statusAt(request, context.now);
  switch (status) {
    case 'queued':
      return renderQueued(request, context.publicBaseUrl);
    case 'processing':
      return { ...base, status };
    case 'succeeded': {
      const { outputs = [], costThousandths, finishedAt, expiresAt } = request;
      if (costThousandths === undefined || !finishedAt || !expiresAt) throw incomplete(request);
      const images = outputs.map((output) => renderImage(request, output, expiresAt, context));
      return { ...base, status, images, cost: toXTokens(costThousandths), finishedAt };
    }
    case 'failed': {
      const { error, finishedAt } = request;
      if (!error || !finishedAt) throw incomplete(request);
      return { ...base, status, error, finishedAt };
    }
    case 'expired': {
      if (!request.finishedAt) throw incomplete(request);
      return { ...base, status, finishedAt: request.finishedAt };
    }
  }
};

const renderImage = (
  request: ImageRequest,
  output: StoredOutput,
  expiresAt: Instant,
  { signUrl }: RenderContext,
): ImageItem => {
  const { objectKey, width, height } = output;
  const item = { id: outputId(request.requestId, output.index), expiresAt };
  return objectKey !== undefined && width !== undefined && height !== undefined
    ? { ...item, size: `${width}x${height}`, url: signUrl(objectKey, expiresAt) }
    : { ...item, size: expectedSize(request), error: { code: STORAGE_FAILED } };
};

/** The size of an image that has no file to measure: what was asked for. */
const expectedSize = (request: ImageRequest): string => {
  const { width, height } = dimensionsOf(request.size, request.aspectRatio);
  return `${width}x${height}`;
};

const incomplete = (request: ImageRequest): Error =>
  new Error(`Request ${request.requestId} is ${request.status} but lacks what that status stands for.`);
