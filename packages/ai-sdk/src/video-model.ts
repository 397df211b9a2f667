import {
  type Experimental_VideoModelV4,
  type Experimental_VideoModelV4CallOptions,
  type Experimental_VideoModelV4OperationStartResult,
  type Experimental_VideoModelV4OperationStatusResult,
  InvalidArgumentError,
  InvalidPromptError,
  type JSONValue,
} from '@ai-sdk/provider';
import type { NewVideo, VideoModelId, VideoRecord } from '@generation-service/client';
import { idempotencyKeyOf, OPTIONS_KEY, type ResponseMetadata, type Service } from './service.ts';
import { videoFieldsOf } from './video-fields.ts';

/** Fields of a creation that the AI SDK has no settings for, under `providerOptions.generationService`. They win over its settings. */
export type GenerationServiceVideoOptions = Partial<
  Pick<NewVideo, 'endUserEmail' | 'resolution' | 'ratio' | 'referenceAudios' | 'webhookUrl'>
>;

type StatusCall = Parameters<NonNullable<Experimental_VideoModelV4['doStatus']>>[0];

const requestIdOf = (operation: JSONValue): string => {
  const { requestId } = Object(operation) as { requestId?: unknown };
  if (typeof requestId === 'string') return requestId;
  throw new InvalidArgumentError({ argument: 'operation', message: 'It is not of this provider.' });
};

/** A video model of the service. The AI SDK waits for its videos, by reads or by a webhook. */
export class GenerationServiceVideoModel implements Experimental_VideoModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider = 'generation-service.video';
  readonly maxVideosPerCall = 1;
  readonly modelId: VideoModelId;
  readonly #service: Service;

  constructor(modelId: VideoModelId, service: Service) {
    this.modelId = modelId;
    this.#service = service;
  }

  /** The service calls the URL once the request has ended. */
  readonly handleWebhookOption: NonNullable<Experimental_VideoModelV4['handleWebhookOption']> = async ({
    webhook,
  }) => {
    const { url, received } = await webhook();
    return { webhookUrl: url, received };
  };

  /** Creates a video with the AI SDK's idempotency key: repeated with it, it is debited once. Throws errors of the AI SDK. */
  async doStart(
    options: Experimental_VideoModelV4CallOptions & { webhookUrl?: string },
  ): Promise<Experimental_VideoModelV4OperationStartResult> {
    const { prompt, webhookUrl } = options;
    if (prompt === undefined) throw new InvalidPromptError({ prompt, message: 'A prompt is needed.' });
    const { endUserEmail, ...more }: GenerationServiceVideoOptions =
      options.providerOptions[OPTIONS_KEY] ?? {};
    const email = this.#service.endUserEmail(endUserEmail);
    const { fields, warnings } = videoFieldsOf(
      await this.#service.videoModel(this.modelId, options),
      options,
    );
    const told = webhookUrl === undefined ? {} : { webhookUrl };
    const body = { model: this.modelId, prompt, endUserEmail: email, ...fields, ...more, ...told };
    const { value, response } = await this.#service.call(this.modelId, options, body, (call) =>
      this.#service.client.createVideo(body, { ...call, ...idempotencyKeyOf(options) }),
    );
    const { requestId } = value;
    return {
      operation: { requestId },
      warnings,
      providerMetadata: { [OPTIONS_KEY]: { requestId } },
      response,
    };
  }

  /**
   * How far a video is, by one read; the videos themselves once they are there. The AI SDK's own download does not fetch from the caller's
   * machine, where a local run has its files, nor signs an expired URL anew. Throws errors of the AI SDK.
   */
  async doStatus({
    operation,
    ...call
  }: StatusCall): Promise<Experimental_VideoModelV4OperationStatusResult> {
    const requestId = requestIdOf(operation);
    const { client } = this.#service;
    const { value, response } = await this.#service.call(
      this.modelId,
      call,
      { requestId },
      async (options) => {
        const record = await client.getVideo(requestId, options);
        const downloads = storedIn(record).map(async (video) =>
          (await client.download(video, options)).bytes(),
        );
        return { record, files: await Promise.all(downloads) };
      },
    );
    return statusOf(value, response);
  }
}

/** The videos of a record that can be fetched. */
const storedIn = (record: VideoRecord) =>
  record.status === 'succeeded' ? record.videos.filter((video) => 'url' in video) : [];

const statusOf = (
  { record, files }: { record: VideoRecord; files: Uint8Array[] },
  response: ResponseMetadata,
): Experimental_VideoModelV4OperationStatusResult => {
  const { requestId } = record;
  const failed = (error: string) => ({
    status: 'error' as const,
    error: `The request ${requestId} did not succeed: ${error}`,
    providerMetadata: { [OPTIONS_KEY]: { requestId } },
    response,
  });
  if (record.status === 'failed') return failed(`${record.error.code}: ${record.error.message}`);
  if (record.status === 'expired') return failed('its files are gone.');
  // Statuses of a later version too.
  if (record.status !== 'succeeded') return { status: 'pending', response };
  const lost = record.videos.filter((video) => 'error' in video);
  return {
    status: 'completed',
    videos: files.map((data) => ({ type: 'binary', data, mediaType: 'video/mp4' })),
    warnings: lost.map(({ id }) => ({ type: 'other', message: `The video ${id} could not be stored.` })),
    providerMetadata: {
      [OPTIONS_KEY]: {
        requestId,
        cost: record.cost,
        videos: storedIn(record).map(({ id, duration, resolution, expiresAt }) => ({
          id,
          duration,
          resolution,
          expiresAt,
        })),
      },
    },
    response,
  };
};
