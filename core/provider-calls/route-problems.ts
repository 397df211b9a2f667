import { catalogModelOf } from '../models/catalog.ts';
import { figure } from '../models/image-sizes.ts';
import type { ModelData } from '../models/model-data.ts';
import type { ModelProblem } from '../models/model-problems.ts';
import { type LimitedRoute, limitsOf, type UpstreamLimits, unmadeOf } from './upstream-limits.ts';

type ImageData = ModelData & { type: 'image' };
type VideoData = ModelData & { type: 'video' };

/** The limits of a model that no route of it keeps, each by its field. Files, and prompts that are cut off, are judged at each creation. */
export const routeProblems = (model: ModelData, routes: readonly LimitedRoute[]): ModelProblem[] => {
  const limits = routes.map(limitsOf);
  const names = routes.map(({ upstreamModel }) => upstreamModel).join(' or ');
  const unmade = unmadeOf(catalogModelOf(model), limits);
  const found = [
    ...(model.type === 'image' ? imageProblems(model, limits) : videoProblems(model, limits)),
    ...parameterProblems(model, limits),
  ];
  const fields = found.map(([field, message]): ModelProblem => [field.split('.'), `${names} ${message}`]);
  // The ends of a range are named above, each for itself.
  const isNamed = unmade === undefined || found.some(([field]) => field.startsWith('durationSec'));
  const kinds = model.type === 'image' ? 'sizePresets' : 'resolutions';
  return isNamed ? fields : [[[kinds], `${names} makes no ${unmade}`], ...fields];
};

type Found = [field: string, message: string];

/** A problem where a value of the model is beyond the highest limit, or below the lowest one, that any of the routes has. */
const beyond = (
  field: string,
  value: number | undefined,
  { least, most }: { least?: (number | undefined)[]; most?: (number | undefined)[] },
): Found[] => {
  if (value === undefined) return [];
  const lowest = Math.min(...(least ?? []).map((limit) => limit ?? 0), Number.POSITIVE_INFINITY);
  const highest = Math.max(...(most ?? []).map((limit) => limit ?? Number.POSITIVE_INFINITY), 0);
  if (least && value < lowest) return [[field, `takes ${figure(lowest)} or more`]];
  if (most && value > highest) return [[field, `takes up to ${figure(highest)}`]];
  return [];
};

const imageProblems = (model: ImageData, limits: readonly UpstreamLimits[]): Found[] => {
  const { minTotalPixels, maxTotalPixels } = model.explicitSize;
  const images = limits.map((each) => each.images);
  const groups = limits.map((each) => each.groupImages ?? each.images);
  const isSequential = model.capabilities.sequential;
  return [
    ...beyond('explicitSize.minTotalPixels', minTotalPixels, { least: limits.map((each) => each.minPixels) }),
    ...beyond('explicitSize.maxTotalPixels', maxTotalPixels, { most: limits.map((each) => each.maxPixels) }),
    ...beyond('maxReferences', model.maxReferences, { most: limits.map((each) => each.references) }),
    ...beyond('maxImagesPerRequest', model.maxImagesPerRequest, { most: isSequential ? groups : images }),
  ];
};

const videoProblems = (model: VideoData, limits: readonly UpstreamLimits[]): Found[] => {
  const { min, max } = model.durationSec;
  const clips = limits.map((each) => each.referenceVideosSeconds);
  const ratios = limits.map((each) => each.ratios);
  const unmade = (model.ratios ?? []).filter(
    (ratio) => !ratios.some((each) => each?.includes(ratio) ?? true),
  );
  return [
    ...beyond('durationSec.min', min, { least: limits.map((each) => each.minSeconds) }),
    ...beyond('durationSec.max', max, { most: limits.map((each) => each.maxSeconds) }),
    ...beyond('maxReferenceImages', model.maxReferenceImages, {
      most: limits.map((each) => each.references),
    }),
    ...beyond('referenceVideoMaxSeconds', model.referenceVideoMaxSeconds, { most: clips }),
    ...(unmade.length > 0 ? [['ratios', `makes no ${unmade.join(', ')}`] as Found] : []),
  ];
};

/** The parameters that none of the routes takes. */
const parameterProblems = ({ parameters = [] }: ModelData, limits: readonly UpstreamLimits[]): Found[] => {
  const untaken = parameters.filter(({ name }) => !limits.some((each) => each.parameters?.includes(name)));
  return untaken.length > 0
    ? [['parameters', `takes no ${untaken.map(({ name }) => name).join(', ')}, by its limits`]]
    : [];
};
