import type { FieldErrors } from '../errors.ts';
import { dimensionsOf } from '../models/image-sizes.ts';
import { takesPixels, type UpstreamLimits } from '../provider-calls/upstream-limits.ts';
import type { NewRequest } from './submission.ts';

/**
 * What a route that refuses early does not take of a creation within the catalog's limits, by field; reference videos aside,
 * which are measured last. Any other route leaves it to its upstream.
 */
export const routeProblems = (creation: NewRequest, limits: UpstreamLimits): FieldErrors => {
  const fields: FieldErrors = {};
  const { promptCharacters, minPixels = 1, maxPixels } = limits;
  if (promptCharacters !== undefined && [...creation.prompt].length > promptCharacters) {
    fields.prompt = `must be at most ${promptCharacters} characters long`;
  }
  if ('size' in creation) {
    const { width, height } = dimensionsOf(creation.size, creation.aspectRatio);
    if (!takesPixels(limits, width * height)) {
      const most = maxPixels === undefined ? '' : ` to ${maxPixels}`;
      fields.size = `has ${width * height} pixels; the provider takes ${minPixels}${most}`;
    }
  }
  return fields;
};
