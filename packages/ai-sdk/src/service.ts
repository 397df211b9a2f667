import { InvalidArgumentError, LoadSettingError, NoSuchModelError } from '@ai-sdk/provider';
import {
  type CallOptions,
  type ClientOptions,
  GenerationClient,
  type ImageModel,
  type Model,
  type VideoModel,
} from '@generation-service/client';
import { sdkErrorOf } from './errors.ts';

/** The key of this provider's options and metadata. */
export const OPTIONS_KEY = 'generationService';

/** How the provider reaches the service: the client's options, under the AI SDK's names. */
export interface GenerationServiceSettings extends Omit<ClientOptions, 'baseUrl'> {
  /** Where the API is, such as `https://api.example.com`. Default: `GENERATION_BASE_URL` of the environment. */
  baseURL?: string | undefined;
  /** Whose requests these are where the provider options of a call do not say it. */
  endUserEmail?: string | undefined;
  /** Sent with each call of the API. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
}

/** What the AI SDK gives each call of a model. */
export interface ModelCall {
  abortSignal?: AbortSignal | undefined;
  headers?: Readonly<Record<string, string | undefined>> | undefined;
}

/** When and from what an answer came, as the AI SDK's results have it. */
export interface ResponseMetadata {
  timestamp: Date;
  modelId: string;
  headers: Record<string, string> | undefined;
}

const IDEMPOTENCY_KEY = 'idempotency-key';

/** The key that the AI SDK or the caller gave to a start; undefined when there is none. */
export const idempotencyKeyOf = ({ headers = {} }: ModelCall): { idempotencyKey?: string } => {
  const [, idempotencyKey] =
    Object.entries(headers).find(([name]) => name.toLowerCase() === IDEMPOTENCY_KEY) ?? [];
  return idempotencyKey === undefined ? {} : { idempotencyKey };
};

/** What the models of a provider share: its client, the list of models, and its settings. */
export class Service {
  readonly #settings: GenerationServiceSettings;
  #client: GenerationClient | undefined;
  readonly #models = new Map<string, Model>();

  constructor(settings: GenerationServiceSettings) {
    this.#settings = settings;
  }

  /** Made at first use, so that a provider can be imported where the environment is not set yet. */
  get client(): GenerationClient {
    if (this.#client) return this.#client;
    const { baseURL: baseUrl, endUserEmail: _, headers: __, ...options } = this.#settings;
    try {
      this.#client = new GenerationClient({ ...options, baseUrl });
    } catch (error) {
      throw error instanceof TypeError ? new LoadSettingError({ message: error.message }) : error;
    }
    return this.#client;
  }

  /**
   * What `run` returns, with the metadata of the last answer. `body` is what an error says was asked. `run` calls `created` once there is a
   * request: the AI SDK does not repeat the call then. Throws errors of the AI SDK.
   */
  async call<T>(
    modelId: string,
    { abortSignal: signal, headers }: ModelCall,
    body: unknown,
    run: (options: CallOptions, created: () => void) => Promise<T>,
  ): Promise<{ value: T; response: ResponseMetadata }> {
    const { client } = this;
    const timestamp = new Date();
    let last: Response | undefined;
    let hasCreated = false;
    const others = Object.entries({ ...this.#settings.headers, ...headers }).filter(
      ([name]) => name.toLowerCase() !== IDEMPOTENCY_KEY,
    );
    try {
      const value = await run(
        {
          signal,
          headers: Object.fromEntries(others),
          onResponse: (response) => {
            last = response;
          },
        },
        () => {
          hasCreated = true;
        },
      );
      return { value, response: { timestamp, modelId, headers: last && Object.fromEntries(last.headers) } };
    } catch (error) {
      throw await sdkErrorOf(error, { baseUrl: client.baseUrl, body, response: last, signal, hasCreated });
    }
  }

  /** The image model with its limits. Throws `NoSuchModelError`. */
  async imageModel(modelId: string, call: ModelCall): Promise<ImageModel> {
    const model = await this.#find(modelId, call);
    if (model?.type !== 'image') throw new NoSuchModelError({ modelId, modelType: 'imageModel' });
    return model;
  }

  /** The video model with its limits. Throws `NoSuchModelError`. */
  async videoModel(modelId: string, call: ModelCall): Promise<VideoModel> {
    const model = await this.#find(modelId, call);
    if (model?.type !== 'video') throw new NoSuchModelError({ modelId, modelType: 'videoModel' });
    return model;
  }

  /** Reads the list when a model is not known yet, which needs the scope `models:read`. */
  async #find(modelId: string, call: ModelCall): Promise<Model | undefined> {
    if (!this.#models.has(modelId)) {
      const { value } = await this.call(modelId, call, undefined, (options) =>
        this.client.listModels(options),
      );
      for (const model of value) this.#models.set(model.id, model);
    }
    return this.#models.get(modelId);
  }

  /** Whose request it is. Throws `InvalidArgumentError` when neither the options nor the settings say it. */
  endUserEmail(given: string | undefined): string {
    const endUserEmail = given ?? this.#settings.endUserEmail;
    if (endUserEmail) return endUserEmail;
    throw new InvalidArgumentError({
      argument: 'endUserEmail',
      message: `Give endUserEmail in the settings of the provider, or in providerOptions.${OPTIONS_KEY}.`,
    });
  }
}
