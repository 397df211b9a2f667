export type { GenerationServiceImageModel, GenerationServiceImageOptions } from './image-model.ts';
export { createGenerationService, type GenerationServiceProvider, generationService } from './provider.ts';
export type { GenerationServiceSettings } from './service.ts';
export type { GenerationServiceVideoModel, GenerationServiceVideoOptions } from './video-model.ts';
