import type { FieldErrors } from '../errors.ts';
import { dimensionsOf } from '../models/image-sizes.ts';
import { takesPixels, type UpstreamLimits } from '../provider-calls/upstream-limits.ts';
import type { NewRequest } from './submission.ts';

/** Errors by field for a creation that no route of its model takes: those of the first route. */
export const earlyProblems = (creation: NewRequest, limits: readonly UpstreamLimits[]): FieldErrors => {
  const problems = limits.map((each) => routeProblems(creation, each));
  const isTaken = problems.some((fields) => Object.keys(fields).length === 0);
  return isTaken ? {} : (problems[0] ?? {});
};

/**
 * Errors by field for a creation that is within the catalog's limits, but not within the upstream's. Empty
 * unless the route refuses early: otherwise the upstream decides. Excludes reference videos, which are
 * measured last.
 */
const routeProblems = (creation: NewRequest, limits: UpstreamLimits): FieldErrors => {
  const fields: FieldErrors = {};
  const { promptCharacters, minPixels = 1, maxPixels, groupImages } = limits;
  if (promptCharacters !== undefined && [...creation.prompt].length > promptCharacters) {
    fields.prompt = `must be at most ${promptCharacters} characters long`;
  }
  if ('size' in creation) {
    const { width, height } = dimensionsOf(creation.size, creation.aspectRatio);
    if (!takesPixels(limits, width * height)) {
      const figure = (pixels: number): string => pixels.toLocaleString('en');
      const most = maxPixels === undefined ? ' or more' : ` to ${figure(maxPixels)}`;
      fields.size = `has ${figure(width * height)} pixels; the provider takes ${figure(minPixels)}${most}`;
    }
    if (creation.sequential && groupImages !== undefined && creation.images > groupImages) {
      fields.sequentialOptions = `must ask for at most ${groupImages} images`;
    }
  }
  return fields;
};
