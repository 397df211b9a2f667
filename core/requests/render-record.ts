import { STORAGE_FAILED } from '../errors.ts';
import { outputId } from '../ids.ts';
import { knownDimensions } from '../models/image-sizes.ts';
import { toXTokens } from '../money.ts';
import { outputObjectPrefix } from '../object-keys.ts';
import { routePath } from '../routes.ts';
import type { Instant } from '../time.ts';
import { withInputFiles } from './input-files.ts';
import type { ImageInput, Provenance, RequestRecord, VideoInput } from './records.ts';
import {
  ASKED_OF_IMAGES,
  ASKED_OF_VIDEO,
  type ImageRequest,
  type StoredOutput,
  type StoredRequest,
  statusAt,
  type VideoRequest,
} from './request-rules.ts';

export interface RenderContext {
  now: Date;
  publicBaseUrl: string;
  /** Signs a URL for a stored file that stops working at `expiresAt`. */
  signUrl: (objectKey: string, expiresAt: Instant) => string;
  /** The URL of a stored file without a signature. With it, the record has `input`: what was asked. */
  inputUrl?: InputUrl;
}

/** The URL that stands for a stored file as an input. */
type InputUrl = (objectKey: string) => string;

/** The URL a request is read at. */
export const recordUrl = (
  publicBaseUrl: string,
  { kind, requestId }: Pick<StoredRequest, 'kind' | 'requestId'>,
): string => publicBaseUrl + routePath(kind === 'image' ? 'get-generation' : 'get-video', { requestId });

export const renderQueued = (request: StoredRequest, publicBaseUrl: string): RequestRecord => {
  const state = { status: 'queued', pollUrl: recordUrl(publicBaseUrl, request) } as const;
  return request.kind === 'image' ? { ...imageBase(request), ...state } : { ...videoBase(request), ...state };
};

const baseOf = <Counts extends object>(request: StoredRequest, counts: Counts) => ({
  requestId: request.requestId,
  model: request.model,
  prompt: request.prompt,
  ...counts,
  endUserEmail: request.endUserEmail,
  createdAt: request.createdAt,
});
const imageBase = (request: ImageRequest) => baseOf(request, { referencesCount: request.references.length });
const videoBase = (request: VideoRequest) => baseOf(request, {});

/** The record of a request as it reads at `context.now`. */
export const renderRecord = (request: StoredRequest, context: RenderContext): RequestRecord => {
  const outputs = request.outputs ?? [];
  const { inputUrl } = context;
  if (request.kind === 'image') {
    const state = stateOf(request, context, (itemOf) => ({
      images: outputs.map((output) => ({ ...itemOf(output), size: sizeOf(request, output) })),
    }));
    return { ...imageBase(request), ...state, ...(inputUrl && { input: imageInput(request, inputUrl) }) };
  }
  const { durationSec, resolution } = request;
  const state = stateOf(request, context, (itemOf) => ({
    videos: outputs.map((output) => ({
      ...itemOf(output),
      duration: output.durationSec ?? durationSec,
      resolution,
    })),
  }));
  return { ...videoBase(request), ...state, ...(inputUrl && { input: videoInput(request, inputUrl) }) };
};

/** Fields that depend on the status of a record. `outputsOf` lists its outputs; `itemOf` gives what items of both kinds have. */
const stateOf = <Outputs extends object>(
  request: StoredRequest,
  { now, publicBaseUrl, signUrl }: RenderContext,
  outputsOf: (itemOf: (output: StoredOutput) => RecordItem) => Outputs,
) => {
  const status = statusAt(request, now);
  const { requestId, costThousandths, finishedAt, expiresAt, reportedSeed, error } = request;
  switch (status) {
    case 'queued':
      return { status, pollUrl: recordUrl(publicBaseUrl, request) };
    case 'processing':
      return { status };
    case 'succeeded': {
      if (costThousandths === undefined || !finishedAt || !expiresAt) throw incomplete(request);
      const outputs = outputsOf(({ index, objectKey, provenance }) => {
        const item = { id: outputId(requestId, index), expiresAt };
        // Falsified outputs must not give URLs of other requests' files.
        return objectKey?.startsWith(outputObjectPrefix(requestId))
          ? { ...item, url: signUrl(objectKey, expiresAt), ...(provenance && { provenance }) }
          : { ...item, error: { code: STORAGE_FAILED } };
      });
      const seed = reportedSeed === undefined ? {} : { seed: reportedSeed };
      return { status, ...outputs, cost: toXTokens(costThousandths), ...seed, finishedAt };
    }
    case 'failed':
      if (!error || !finishedAt) throw incomplete(request);
      return { status, error: { code: error.code, message: error.message }, finishedAt };
    case 'expired':
      if (!finishedAt) throw incomplete(request);
      return { status, finishedAt };
  }
};

type RecordItem = { id: string; expiresAt: Instant } & (
  | { url: string; provenance?: Provenance }
  | { error: { code: typeof STORAGE_FAILED } }
);

/** The size of the stored image or, without a file, the requested size; `0x0` for a size that only another release knows. */
const sizeOf = (request: ImageRequest, { width, height }: StoredOutput): string => {
  if (width !== undefined && height !== undefined) return `${width}x${height}`;
  const asked = knownDimensions(request.size, request.aspectRatio) ?? { width: 0, height: 0 };
  return `${width ?? asked.width}x${height ?? asked.height}`;
};

const incomplete = (request: StoredRequest): Error =>
  new Error(`Request ${request.requestId} is ${request.status} but lacks what that status stands for.`);

/** A caller's URL as answers show it: without query and fragment, which may hold a signature that a read must not give away. */
const unsigned = (url: string): string => url.replace(/[?#].*$/s, '');

/** The values of these fields that a request has. A file of ours is shown by its URL, which can be used again. */
const askedOf = <Name extends keyof Request & string, Request extends StoredRequest>(
  fields: Readonly<Record<Name, unknown>>,
  request: Request,
  inputUrl: InputUrl,
): Pick<Request, Name> => {
  const given = (Object.keys(fields) as Name[]).filter((name) => request[name] !== undefined);
  const values = given.map((name) => [
    name,
    name === 'webhookUrl' ? unsigned(`${request[name]}`) : request[name],
  ]);
  const show = (text: string): string => (isUrl(text) ? unsigned(text) : inputUrl(text));
  return withInputFiles(Object.fromEntries(values) as Pick<Request, Name>, show);
};

const isUrl = (text: string): boolean => /^https?:/i.test(text);

export const imageInput = (request: ImageRequest, inputUrl: InputUrl): ImageInput => {
  const { images, sequential } = request;
  return {
    ...askedOf(ASKED_OF_IMAGES, request, inputUrl),
    n: sequential ? 1 : images,
    ...(sequential && { sequential: 'auto', sequentialOptions: { maxImages: images } }),
  };
};

export const videoInput = (request: VideoRequest, inputUrl: InputUrl): VideoInput =>
  askedOf(ASKED_OF_VIDEO, request, inputUrl);
