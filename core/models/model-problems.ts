import { catalogModelOf } from './catalog.ts';
import type { ModelData } from './model-data.ts';
import { rateProblem } from './rate-problem.ts';

/** A contradiction in a model: the path of its field, and what is wrong there. */
export type ModelProblem = [path: string[], message: string];

type ImageData = ModelData & { type: 'image' };
type VideoData = ModelData & { type: 'video' };

/** The contradictions between the fields of a model, each of which is valid alone. */
export const modelProblems = (model: ModelData): ModelProblem[] => {
  const own = [
    ...(model.type === 'image' ? imageProblems(model) : videoProblems(model)),
    ...(model.parameters ?? []).flatMap((one) =>
      when(one.name === 'seed' && one.min > one.max, 'parameters', 'Expected a seed from min to max'),
    ),
  ];
  const price = rateProblem(catalogModelOf(model), model.rate);
  return price === undefined ? own : [...own, [['rate'], price]];
};

/** A problem where `isWrong`, else none. */
const when = (isWrong: boolean, path: string, message: string): ModelProblem[] =>
  isWrong ? [[path.split('.'), message]] : [];

const imageProblems = ({ sizePresets, defaultSize, explicitSize }: ImageData): ModelProblem[] => {
  const { minTotalPixels, maxTotalPixels, minAspectRatio, maxAspectRatio } = explicitSize;
  const { minSide = 1, maxSide = minSide } = explicitSize;
  return [
    ...when(!sizePresets.includes(defaultSize), 'defaultSize', 'Expected one of sizePresets'),
    ...when(
      minTotalPixels > maxTotalPixels,
      'explicitSize.minTotalPixels',
      'Expected at most maxTotalPixels',
    ),
    ...when(
      minAspectRatio > maxAspectRatio,
      'explicitSize.minAspectRatio',
      'Expected at most maxAspectRatio',
    ),
    ...when(minSide > maxSide, 'explicitSize.minSide', 'Expected at most maxSide'),
  ];
};

const videoProblems = (model: VideoData): ModelProblem[] => {
  const { resolutions, defaultResolution, ratios, defaultRatio } = model;
  const { min, max, default: usual } = model.durationSec;
  return [
    ...when(!resolutions.includes(defaultResolution), 'defaultResolution', 'Expected one of resolutions'),
    ...when(min > max, 'durationSec.min', 'Expected at most max'),
    ...when(usual < min || usual > max, 'durationSec.default', 'Expected a length from min to max'),
    ...when(
      defaultRatio !== undefined && !ratios?.includes(defaultRatio),
      'defaultRatio',
      'Expected one of ratios',
    ),
    ...when(ratios !== undefined && defaultRatio === undefined, 'defaultRatio', 'Expected beside ratios'),
    ...inputProblems(model),
  ];
};

/** The limits of each kind of reference, with the input mode that they go with. */
const REFERENCE_LIMITS = [
  ['maxReferenceImages', 'reference_images'],
  ['maxReferenceVideos', 'reference_videos'],
  ['maxReferenceAudios', 'reference_audios'],
] as const;
/** Limits that may be absent with the mode. */
const CLIP_LIMITS = ['referenceVideoMaxSeconds', 'maxCombinedSeconds'] as const;

const inputProblems = (model: VideoData): ModelProblem[] => {
  const modes: readonly string[] = model.inputModes ?? [];
  const hasFirst = model.requiresImage || modes.includes('first_frame');
  return [
    ...when(
      modes.includes('last_frame') && !hasFirst,
      'inputModes',
      'Expected first_frame beside last_frame',
    ),
    ...REFERENCE_LIMITS.flatMap(([limit, mode]) => [
      ...when(
        modes.includes(mode) && model[limit] === undefined,
        limit,
        `Expected with the input mode ${mode}`,
      ),
      ...when(!modes.includes(mode) && model[limit] !== undefined, limit, `Only with the input mode ${mode}`),
    ]),
    ...CLIP_LIMITS.flatMap((limit) =>
      when(
        !modes.includes('reference_videos') && model[limit] !== undefined,
        limit,
        'Only with the input mode reference_videos',
      ),
    ),
  ];
};
