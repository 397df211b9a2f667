import { type NewVideoRequest, parseVideoRequest } from '../../../../core/creation/create-video-rules.ts';
import type { FieldErrors } from '../../../../core/errors.ts';
import { aVideoBody } from '../../builders/bodies.ts';

/** What the minimal body with these fields set is read as. Throws when it is refused. */
export const accepted = (overrides: Record<string, unknown>): NewVideoRequest => {
  const parsed = parseVideoRequest(aVideoBody(overrides), false);
  if (!parsed.ok) throw parsed.error;
  return parsed.creation;
};
/** The wrong fields of a body. */
export const refused = (body: Record<string, unknown>, allowPrivate = false): FieldErrors => {
  const parsed = parseVideoRequest(body, allowPrivate);
  return parsed.ok ? {} : { ...parsed.error.fields };
};
/** The wrong fields of the minimal body with these fields set. */
export const problems = (overrides: Record<string, unknown>, allowPrivate = false): FieldErrors =>
  refused(aVideoBody(overrides), allowPrivate);

export const IMAGE = 'https://media.example.com/first.png';
export const LAST = 'https://media.example.com/last.png';
/** The fields that each model requires besides the prompt. */
const NEEDED: Record<string, Record<string, unknown>> = { 'xW2.7S': { image: IMAGE } };
export const least = (model: string) => ({ model, ...NEEDED[model] });

/** The published limits of every video model, written out; `GET /v1/models` must agree. */
export const MODELS = [
  { model: 'xW2.7S', resolutions: ['720p', '1080p'], durationSec: [2, 15], inputs: false },
  { model: 'xW3.0s', resolutions: ['480p', '720p', '1080p'], durationSec: [2, 30], inputs: true },
  { model: 'xW3.0sPro', resolutions: ['1080p', '2k', '4k'], durationSec: [2, 30], inputs: true },
] as const;
