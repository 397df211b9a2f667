import type {
  Experimental_VideoModelV4CallOptions,
  Experimental_VideoModelV4File,
  SharedV4Warning,
} from '@ai-sdk/provider';
import type { NewVideo, VideoModel, WithFiles } from '@generation-service/client';
import { fileOf } from './files.ts';
import { hasParameter } from './parameters.ts';

/** How far the ratio of a size may be from the one it is taken for: 854x480 is 16:9. */
const RATIO_TOLERANCE = 0.02;

const quotient = (ratio: string): number => {
  const [width = 0, height = 0] = ratio.split(':').map(Number);
  return width / height;
};

/** By short side: what callers write as pixels, the service names so. */
const NAMES: Record<number, string> = { 1440: '2k', 2160: '4k' };

/** The kinds of references: the field of a creation, the model's limit, and the beginning of the media type. */
const REFERENCES = [
  { field: 'referenceVideos', mostOf: 'maxReferenceVideos', type: 'video/' },
  { field: 'referenceAudios', mostOf: 'maxReferenceAudios', type: 'audio/' },
  { field: 'referenceImages', mostOf: 'maxReferenceImages', type: '' },
] as const;

type Fields = { -readonly [Field in keyof WithFiles<NewVideo>]?: WithFiles<NewVideo>[Field] };

/** The fields of a creation that the model takes, and a warning for each setting that it does not. */
export const videoFieldsOf = (
  model: VideoModel,
  options: Experimental_VideoModelV4CallOptions,
): { fields: Fields; warnings: SharedV4Warning[] } => {
  const fields: Fields = {};
  const warnings: SharedV4Warning[] = [];
  const leaveOut = (feature: string, details: string): void => {
    warnings.push({ type: 'unsupported', feature, details });
  };

  if (options.n > 1) leaveOut('n', 'A request makes one video.');
  if (options.fps !== undefined) leaveOut('fps', 'The model says it.');
  for (const name of ['seed', 'generateAudio'] as const) {
    if (options[name] === undefined) continue;
    if (hasParameter(model, name)) Object.assign(fields, { [name]: options[name] });
    else leaveOut(name, `${model.id} takes none.`);
  }
  if (options.duration !== undefined) fields.durationSec = options.duration;
  addShape(model, options, fields, leaveOut);
  addFrames(model, options, fields, leaveOut);
  addReferences(model, options.inputReferences ?? [], fields, leaveOut);
  return { fields, warnings };
};

type LeaveOut = (feature: string, details: string) => void;

const addShape = (
  { id, resolutions, ratios = [], defaultResolution }: VideoModel,
  { resolution, aspectRatio }: Experimental_VideoModelV4CallOptions,
  fields: Fields,
  leaveOut: LeaveOut,
): void => {
  if (aspectRatio !== undefined) {
    if (ratios.includes(aspectRatio)) fields.ratio = aspectRatio;
    else
      leaveOut('aspectRatio', ratios.length > 0 ? `${id} makes ${ratios.join(', ')}.` : `${id} takes none.`);
  }
  if (resolution === undefined) return;
  const [width = 0, height = 0] = resolution.split('x').map(Number);
  const side = Math.min(width, height);
  const named = NAMES[side] ?? `${side}p`;
  const near = ratios.find((ratio) => Math.abs(width / height / quotient(ratio) - 1) < RATIO_TOLERANCE);
  if (!resolutions.includes(named)) {
    const made = `${id} makes ${resolutions.join(', ')}, now ${defaultResolution}`;
    leaveOut('resolution', `${made}. The short side of a resolution says which.`);
    return;
  }
  fields.resolution = named;
  if (aspectRatio !== undefined) return;
  if (near !== undefined) fields.ratio = near;
  else leaveOut('resolution', `It is made in ${named}, and its shape is not ${width}:${height}.`);
};

const addFrames = (
  model: VideoModel,
  { image, frameImages = [] }: Experimental_VideoModelV4CallOptions,
  fields: Fields,
  leaveOut: LeaveOut,
): void => {
  const takes = (mode: string): boolean => model.inputModes?.includes(mode) ?? false;
  const frame = (type: string) => frameImages.find(({ frameType }) => frameType === type)?.image;
  const [first, last] = [image ?? frame('first_frame'), frame('last_frame')];
  if (first) {
    if (model.requiresImage || takes('first_frame')) fields.image = fileOf(first);
    else leaveOut('image', `${model.id} takes no first frame.`);
  }
  if (last) {
    if (takes('last_frame')) fields.lastFrame = fileOf(last);
    else leaveOut('frameImages', `${model.id} takes no last frame.`);
  }
};

const addReferences = (
  model: VideoModel,
  files: readonly Experimental_VideoModelV4File[],
  fields: Fields,
  leaveOut: LeaveOut,
): void => {
  const kindOf = ({ mediaType = '' }: Experimental_VideoModelV4File) =>
    REFERENCES.find(({ type }) => mediaType.startsWith(type));
  for (const kind of REFERENCES) {
    const own = files.filter((file) => kindOf(file) === kind).map(fileOf);
    if (own.length === 0) continue;
    if ((model[kind.mostOf] ?? 0) > 0) Object.assign(fields, { [kind.field]: own });
    else leaveOut('inputReferences', `${model.id} takes no ${kind.field}.`);
  }
};
