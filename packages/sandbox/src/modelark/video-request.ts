import { ADAPTIVE_RATIO, RATIOS, type Ratio, type Resolution } from '../media/video-size.ts';
import { invalidParameter, modelNotFound } from './errors.ts';
import { optionalChoice, optionalFlag, optionalInteger, optionalText, requiredText } from './fields.ts';
import { readVideoContent } from './video-content.ts';
import { findVideoModel, type VideoModel } from './video-models.ts';

/** A validated video request. */
export type ArkVideoRequest = {
  model: string;
  prompt: string;
  resolution: Resolution;
  /** `adaptive` is resolved. */
  ratio: Ratio;
  /** `-1` is resolved. */
  seconds: number;
  generateAudio: boolean;
  watermark: boolean;
  expiresAfterSeconds: number;
  callbackUrl?: string;
  safetyIdentifier?: string;
};

const DEFAULT_SECONDS = 5;
const MAX_SAFETY_IDENTIFIER_LENGTH = 64;

const readSeconds = (body: Record<string, unknown>, { minSeconds, maxSeconds }: VideoModel) =>
  // -1 lets the model decide; this one always takes the default.
  body.duration === -1
    ? DEFAULT_SECONDS
    : optionalInteger(body, 'duration', { min: minSeconds, max: maxSeconds, fallback: DEFAULT_SECONDS });

const readCallbackUrl = (body: Record<string, unknown>) => {
  const url = optionalText(body, 'callback_url');
  if (url !== undefined && !(URL.canParse(url) && /^https?:/i.test(url))) {
    throw invalidParameter('callback_url', 'expected an http(s) URL');
  }
  return url;
};

const readSafetyIdentifier = (body: Record<string, unknown>) => {
  const identifier = optionalText(body, 'safety_identifier');
  if (identifier !== undefined && identifier.length > MAX_SAFETY_IDENTIFIER_LENGTH) {
    throw invalidParameter(
      'safety_identifier',
      `at most ${MAX_SAFETY_IDENTIFIER_LENGTH} characters are supported`,
    );
  }
  return identifier;
};

/** Validates the body of `POST /contents/generations/tasks`. Throws `UpstreamError`. Ignores unknown fields. */
export const readVideoRequest = (body: Record<string, unknown>): ArkVideoRequest => {
  const modelId = requiredText(body, 'model');
  const model = findVideoModel(modelId);
  if (!model) throw modelNotFound(modelId);
  const { prompt } = readVideoContent(body.content, model);
  const ratio = optionalChoice(body, 'ratio', ['adaptive', ...RATIOS], 'adaptive');
  const callbackUrl = readCallbackUrl(body);
  const safetyIdentifier = readSafetyIdentifier(body);
  return {
    model: modelId,
    prompt,
    resolution: optionalChoice(body, 'resolution', model.resolutions, model.defaultResolution),
    ratio: ratio === 'adaptive' ? ADAPTIVE_RATIO : ratio,
    seconds: readSeconds(body, model),
    generateAudio: optionalFlag(body, 'generate_audio', true),
    watermark: optionalFlag(body, 'watermark', false),
    expiresAfterSeconds: optionalInteger(body, 'execution_expires_after', {
      min: 3_600,
      max: 259_200,
      fallback: 172_800,
    }),
    ...(callbackUrl !== undefined && { callbackUrl }),
    ...(safetyIdentifier !== undefined && { safetyIdentifier }),
  };
};
