import { type NewImageRequest, parseImageRequest } from '../../../../core/creation/create-image-rules.ts';
import type { FieldErrors } from '../../../../core/errors.ts';
import { aGenerationBody } from '../../builders/bodies.ts';

/** What the minimal body with these fields set is read as. Throws when it is refused. */
export const accepted = (overrides: Record<string, unknown>): NewImageRequest => {
  const parsed = parseImageRequest(aGenerationBody(overrides), false);
  if (!parsed.ok) throw parsed.error;
  return parsed.creation;
};
/** The wrong fields of a body. */
export const refused = (body: Record<string, unknown>): FieldErrors => {
  const parsed = parseImageRequest(body, false);
  return parsed.ok ? {} : { ...parsed.error.fields };
};
/** The wrong fields of the minimal body with these fields set. */
export const problems = (overrides: Record<string, unknown>): FieldErrors =>
  refused(aGenerationBody(overrides));
