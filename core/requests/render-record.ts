import { type Failure, STORAGE_FAILED } from '../errors.ts';
import { outputId } from '../ids.ts';
import { dimensionsOf } from '../models/image-sizes.ts';
import { toXTokens } from '../money.ts';
import { routePath } from '../routes.ts';
import type { Instant } from '../time.ts';
import {
  type ImageRequest,
  type StoredOutput,
  type StoredRequest,
  statusAt,
  type VideoRequest,
} from './request-rules.ts';

/** An output of a succeeded record. Has exactly one of `url` and `error`. */
interface OutputItem {
  id: string;
  expiresAt: Instant;
  url?: string;
  error?: { code: typeof STORAGE_FAILED };
}

/** One image of a succeeded record. */
export interface ImageItem extends OutputItem {
  size: string;
}

/** The video of a succeeded record. `duration` is in seconds; `resolution` is the requested label. */
export interface VideoItem extends OutputItem {
  duration: number;
  resolution: string;
}

interface RecordBase {
  requestId: string;
  model: string;
  prompt: string;
  endUserEmail: string;
  createdAt: Instant;
}

type ByStatus<Outputs> =
  | { status: 'queued'; pollUrl: string }
  | { status: 'processing' }
  | ({ status: 'succeeded'; cost: number; finishedAt: Instant } & Outputs)
  | { status: 'failed'; error: Failure; finishedAt: Instant }
  | { status: 'expired'; finishedAt: Instant };

/**
 * A request as the API shows it. Each status has exactly these fields. Only image requests have
 * `referencesCount`.
 */
export type RequestRecord = RecordBase & { referencesCount?: number } & ByStatus<
    { images: ImageItem[] } | { videos: VideoItem[] }
  >;

/** What `renderRecord` needs beside the request. */
export interface RenderContext {
  now: Date;
  publicBaseUrl: string;
  /** Signs a URL for a stored file that stops working at `expiresAt`. */
  signUrl: (objectKey: string, expiresAt: Instant) => string;
}

/** The URL a request is read at. */
export const recordUrl = (publicBaseUrl: string, { kind, requestId }: StoredRequest): string =>
  publicBaseUrl + routePath(kind === 'image' ? 'get-generation' : 'get-video', { requestId });

/** The record of a queued request. */
export const renderQueued = (request: StoredRequest, publicBaseUrl: string): RequestRecord => ({
  ...baseOf(request),
  status: 'queued',
  pollUrl: recordUrl(publicBaseUrl, request),
});

const baseOf = (request: StoredRequest) => ({
  requestId: request.requestId,
  model: request.model,
  prompt: request.prompt,
  ...(request.kind === 'image' ? { referencesCount: request.references.length } : {}),
  endUserEmail: request.endUserEmail,
  createdAt: request.createdAt,
});

/** The record of a request as it reads at `context.now`. */
export const renderRecord = (request: StoredRequest, context: RenderContext): RequestRecord => {
  const base = baseOf(request);
  const status = statusAt(request, context.now);
  switch (status) {
    case 'queued':
      return renderQueued(request, context.publicBaseUrl);
    case 'processing':
      return { ...base, status };
    case 'succeeded': {
      const { costThousandths, finishedAt, expiresAt } = request;
      if (costThousandths === undefined || !finishedAt || !expiresAt) throw incomplete(request);
      const outputs = renderOutputs(request, expiresAt, context);
      return { ...base, status, ...outputs, cost: toXTokens(costThousandths), finishedAt };
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

const renderOutputs = (
  request: StoredRequest,
  expiresAt: Instant,
  { signUrl }: RenderContext,
): { images: ImageItem[] } | { videos: VideoItem[] } => {
  const { outputs = [], requestId } = request;
  const itemOf = ({ index, objectKey }: StoredOutput): OutputItem => ({
    id: outputId(requestId, index),
    expiresAt,
    ...(objectKey === undefined
      ? { error: { code: STORAGE_FAILED } }
      : { url: signUrl(objectKey, expiresAt) }),
  });
  return request.kind === 'image'
    ? { images: outputs.map((output) => ({ ...itemOf(output), size: sizeOf(request, output) })) }
    : { videos: outputs.map((output) => ({ ...itemOf(output), ...lengthOf(request, output) })) };
};

/** The size of the stored image, or the requested size when there is no file. */
const sizeOf = (request: ImageRequest, stored: StoredOutput): string => {
  const asked = dimensionsOf(request.size, request.aspectRatio);
  return `${stored.width ?? asked.width}x${stored.height ?? asked.height}`;
};

const lengthOf = ({ durationSec, resolution }: VideoRequest, stored: StoredOutput) => ({
  duration: stored.durationSec ?? durationSec,
  resolution,
});

const incomplete = (request: StoredRequest): Error =>
  new Error(`Request ${request.requestId} is ${request.status} but lacks what that status stands for.`);
