import { NoSuchModelError, type ProviderV4 } from '@ai-sdk/provider';
import type { ImageModelId, VideoModelId } from '@generation-service/client';
import { GenerationServiceImageModel } from './image-model.ts';
import { type GenerationServiceSettings, Service } from './service.ts';
import { GenerationServiceVideoModel } from './video-model.ts';

/** The models of the service for the AI SDK. */
export interface GenerationServiceProvider extends ProviderV4 {
  /** A model for `generateImage`. */
  image(modelId: ImageModelId): GenerationServiceImageModel;
  /** The same, by the name that registries use. */
  imageModel(modelId: ImageModelId): GenerationServiceImageModel;
  /** A model for `experimental_generateVideo`. */
  video(modelId: VideoModelId): GenerationServiceVideoModel;
  /** The same, by the name that registries use. */
  videoModel(modelId: VideoModelId): GenerationServiceVideoModel;
}

/** A provider. Its models share a client and a list of models. A missing setting is a `LoadSettingError` of the first call. */
export const createGenerationService = (
  settings: GenerationServiceSettings = {},
): GenerationServiceProvider => {
  const service = new Service(settings);
  const image = (modelId: ImageModelId) => new GenerationServiceImageModel(modelId, service);
  const video = (modelId: VideoModelId) => new GenerationServiceVideoModel(modelId, service);
  return {
    specificationVersion: 'v4',
    image,
    imageModel: image,
    video,
    videoModel: video,
    languageModel(modelId) {
      throw new NoSuchModelError({ modelId, modelType: 'languageModel' });
    },
    embeddingModel(modelId) {
      throw new NoSuchModelError({ modelId, modelType: 'embeddingModel' });
    },
  };
};

/** A provider by the environment: `GENERATION_BASE_URL` and `GENERATION_API_KEY`. */
export const generationService: GenerationServiceProvider = createGenerationService();
