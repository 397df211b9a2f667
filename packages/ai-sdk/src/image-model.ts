import {
  type ImageModelV4,
  type ImageModelV4CallOptions,
  type ImageModelV4Result,
  InvalidPromptError,
  type SharedV4Warning,
} from '@ai-sdk/provider';
import type {
  CallOptions,
  ImageModel,
  ImageModelId,
  NewGeneration,
  WithFiles,
} from '@generation-service/client';
import { fileOf } from './files.ts';
import { hasParameter } from './parameters.ts';
import { idempotencyKeyOf, OPTIONS_KEY, type Service } from './service.ts';

/** Fields of a creation that the AI SDK has no settings for, under `providerOptions.generationService`. They win over its settings. */
export type GenerationServiceImageOptions = Partial<
  Pick<
    NewGeneration,
    'endUserEmail' | 'size' | 'aspectRatio' | 'sequential' | 'sequentialOptions' | 'webhookUrl'
  >
> & {
  /** Between two reads of the request. Default: 5000. */
  pollIntervalMs?: number;
  /** How long to wait for the images. Default: 75 min, longer than the service takes. */
  pollTimeoutMs?: number;
};

/** The service's words for ratios that it makes exactly. */
const ASPECT_RATIOS: Record<string, NewGeneration['aspectRatio']> = {
  '1:1': 'square',
  '16:9': 'landscape',
  '9:16': 'portrait',
};

const isWithin = ({ explicitSize: bounds }: ImageModel, size: string): boolean => {
  const [width = 0, height = 0] = size.split('x').map(Number);
  const [pixels, ratio] = [width * height, width / height];
  return (
    pixels >= bounds.minTotalPixels &&
    pixels <= bounds.maxTotalPixels &&
    ratio >= bounds.minAspectRatio &&
    ratio <= bounds.maxAspectRatio &&
    Math.min(width, height) >= (bounds.minSide ?? 1) &&
    Math.max(width, height) <= (bounds.maxSide ?? Number.POSITIVE_INFINITY)
  );
};

/** The fields that the model takes, and a warning for each setting that it does not. */
const fieldsOf = (
  model: ImageModel,
  { size, aspectRatio, seed, files = [], mask, n }: ImageModelV4CallOptions,
): { fields: Partial<WithFiles<NewGeneration>>; warnings: SharedV4Warning[] } => {
  const warnings: SharedV4Warning[] = [];
  const leaveOut = (feature: string, details: string) => {
    warnings.push({ type: 'unsupported', feature, details });
    return undefined;
  };
  const sizeOf = () => {
    if (size === undefined || isWithin(model, size)) return size;
    return leaveOut(
      'size',
      `${model.id} does not make ${size}: its images have its default size, ${model.defaultSize}.`,
    );
  };
  const taken = sizeOf();
  const ratioOf = () => {
    if (aspectRatio === undefined) return undefined;
    if (taken !== undefined) return leaveOut('aspectRatio', 'The size says it.');
    const named = ASPECT_RATIOS[aspectRatio];
    const known = Object.keys(ASPECT_RATIOS).join(', ');
    return named ?? leaveOut('aspectRatio', `It is one of ${known}. Give a size for another.`);
  };
  const ratio = ratioOf();
  const takesSeed = seed !== undefined && hasParameter(model, 'seed');
  if (seed !== undefined && !takesSeed) leaveOut('seed', `${model.id} takes none.`);
  if (mask) leaveOut('mask', 'No model takes one: say in the prompt what to change.');
  const takesFiles = files.length > 0 && model.maxReferences > 0;
  if (files.length > 0 && !takesFiles) leaveOut('files', `${model.id} makes images from text alone.`);
  const fields = {
    n,
    ...(taken !== undefined && { size: taken }),
    ...(ratio !== undefined && { aspectRatio: ratio }),
    ...(takesSeed && { seed }),
    ...(takesFiles && { references: files.map(fileOf) }),
  };
  return { fields, warnings };
};

const secondsOf = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000;

/** An image model of the service. */
export class GenerationServiceImageModel implements ImageModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider = 'generation-service.image';
  readonly modelId: ImageModelId;
  readonly #service: Service;

  constructor(modelId: ImageModelId, service: Service) {
    this.modelId = modelId;
    this.#service = service;
  }

  /** The model's `maxImagesPerRequest`. */
  readonly maxImagesPerCall = async (): Promise<number> =>
    (await this.#service.imageModel(this.modelId, {})).maxImagesPerRequest;

  /**
   * Creates images, waits for them, and fetches their files. An abort ends the wait, not the request, which is debited. Throws
   * errors of the AI SDK.
   */
  async doGenerate(options: ImageModelV4CallOptions): Promise<ImageModelV4Result> {
    const { prompt } = options;
    if (prompt === undefined) throw new InvalidPromptError({ prompt, message: 'A prompt is needed.' });
    const { pollIntervalMs, pollTimeoutMs, endUserEmail, ...more }: GenerationServiceImageOptions =
      options.providerOptions[OPTIONS_KEY] ?? {};
    const email = this.#service.endUserEmail(endUserEmail);
    const { fields, warnings } = fieldsOf(await this.#service.imageModel(this.modelId, options), options);
    const body = { model: this.modelId, prompt, endUserEmail: email, ...fields, ...more };
    const wait = { intervalSeconds: secondsOf(pollIntervalMs), timeoutSeconds: secondsOf(pollTimeoutMs) };
    const { value, response } = await this.#service.call(this.modelId, options, body, (call, created) =>
      this.#make(body, { ...call, ...idempotencyKeyOf(options) }, wait, created),
    );
    const { files, lost, ...metadata } = value;
    for (const id of lost) warnings.push({ type: 'other', message: `The image ${id} could not be stored.` });
    return {
      images: files,
      warnings,
      // What was made is paid for: the AI SDK must not make it again.
      isRetryable: false,
      providerMetadata: { [OPTIONS_KEY]: metadata },
      response,
    };
  }

  async #make(
    body: WithFiles<NewGeneration>,
    options: CallOptions & { idempotencyKey?: string },
    {
      intervalSeconds,
      timeoutSeconds,
    }: { intervalSeconds: number | undefined; timeoutSeconds: number | undefined },
    created: () => void,
  ) {
    const { client } = this.#service;
    const queued = await client.createImage(body, options);
    created();
    const { requestId, cost, images } = await client.waitForSuccess(queued, {
      ...options,
      ...(intervalSeconds !== undefined && { intervalSeconds }),
      ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    });
    const stored = images.filter((image) => 'url' in image);
    const downloads = stored.map(async (image) => (await client.download(image, options)).bytes());
    return {
      requestId,
      cost,
      images: stored.map(({ id, size, expiresAt }) => ({ id, size, expiresAt })),
      files: await Promise.all(downloads),
      lost: images.filter((image) => 'error' in image).map(({ id }) => id),
    };
  }
}
