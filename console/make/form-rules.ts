import { parseImageRequest } from '../../core/creation/create-image-rules.ts';
import { FRAMES, parseVideoRequest, REFERENCES, takes } from '../../core/creation/create-video-rules.ts';
import { MAX_PROMPT_CHARACTERS } from '../../core/creation/creation-fields.ts';
import { ratioText } from '../../core/models/image-sizes.ts';
import { ASPECT_RATIOS } from '../../core/models/size-presets.ts';
import type { ImageModel, Model, VideoModel } from '../../packages/client/src/types.ts';

/**
 * The values of the form: the text of each field by its name, with one URL per line for lists. Empty text is
 * an absent field.
 */
export type FormValues = Readonly<Record<string, string>>;

/** How a field is filled in. */
type Control = 'lines' | 'line' | 'sizes' | 'tiles' | 'whole' | 'check' | 'file' | 'files';

/** A field of the form of a model. */
export interface FormField {
  /** Its path in the body, which is also its name in refusals. */
  path: string;
  label: string;
  control: Control;
  hint: string;
  /** Of `tiles` and `sizes`. */
  options: readonly string[];
  /** What the service takes where the field is empty. Of `tiles` and `sizes`. */
  byDefault?: string;
  /** Of `file` and `files`. */
  medium?: 'image' | 'video' | 'audio';
  /** Whether the model takes the field. A field that it does not take is shown while it has a value. */
  isTaken: boolean;
  isRequired: boolean;
  /** Whether few requests set it: it is folded while it is empty. */
  isRare: boolean;
}

const field = (
  path: string,
  label: string,
  control: Control,
  more: Partial<Omit<FormField, 'path' | 'label' | 'control'>> = {},
): FormField => ({
  ...{ path, label, control, hint: '', options: [], isTaken: true, isRequired: false, isRare: false },
  ...more,
});

const pixels = (count: number): string => count.toLocaleString('en');

const sizeHint = ({ explicitSize }: ImageModel): string => {
  const { minTotalPixels, maxTotalPixels, minAspectRatio, maxAspectRatio, minSide, maxSide } = explicitSize;
  const sides = minSide === undefined ? '' : `, sides ${pixels(minSide)} to ${pixels(maxSide ?? minSide)}`;
  return `A custom size is <width>x<height>: ${pixels(minTotalPixels)} to ${pixels(maxTotalPixels)} pixels, ratio ${ratioText(minAspectRatio)} to ${ratioText(maxAspectRatio)}${sides}.`;
};

const imageFields = (model: ImageModel): FormField[] => [
  field('aspectRatio', 'Shape', 'tiles', { options: ASPECT_RATIOS, byDefault: 'auto' }),
  field('size', 'Size', 'sizes', {
    hint: sizeHint(model),
    options: model.sizePresets,
    byDefault: model.defaultSize,
  }),
  field('n', 'Images', 'whole', { hint: `1 if empty, at most ${model.maxImagesPerRequest}.` }),
  field('references', 'Reference images', 'files', {
    hint: `At most ${model.maxReferences}.`,
    medium: 'image',
    isTaken: model.maxReferences > 0,
  }),
  field('sequential', 'A sequence of images', 'check', {
    hint: 'The model decides how many belong together.',
    isTaken: model.capabilities.sequential,
    isRare: true,
  }),
  field('sequentialOptions.maxImages', 'Longest sequence', 'whole', {
    hint: `At most ${model.maxImagesPerRequest} together with the references.`,
    isTaken: model.capabilities.sequential,
    isRare: true,
  }),
];

/** An input mode in words: `First frame`. */
const labelOf = (mode: string): string => mode.charAt(0).toUpperCase() + mode.slice(1).replaceAll('_', ' ');

const videoFields = (model: VideoModel): FormField[] => {
  const { min, max, default: byDefault } = model.durationSec;
  const clips = ` Each up to ${model.referenceVideoMaxSeconds} s; with the output up to ${model.maxCombinedSeconds} s.`;
  const frames = Object.entries(FRAMES).map(([path, mode]) => {
    const isRequired = path === 'image' && model.requiresImage;
    const isTaken = isRequired || takes(model, mode);
    return field(path, labelOf(mode), 'file', { medium: 'image', isTaken, isRequired });
  });
  const references = Object.entries(REFERENCES).map(([path, { mode, limit }]) => {
    const hint = `At most ${model[limit] ?? 0}.${path === 'referenceVideos' ? clips : ''}`;
    const medium = MEDIA.find((one) => mode.includes(one)) ?? 'image';
    return field(path, labelOf(mode), 'files', { hint, medium, isTaken: takes(model, mode) });
  });
  return [
    ...frames,
    field('ratio', 'Shape', 'tiles', {
      options: model.ratios ?? [],
      ...(model.defaultRatio !== undefined && { byDefault: model.defaultRatio }),
      isTaken: model.ratios !== undefined,
    }),
    field('resolution', 'Resolution', 'tiles', {
      options: model.resolutions,
      byDefault: model.defaultResolution,
    }),
    field('durationSec', 'Seconds', 'whole', { hint: `${min} to ${max}; ${byDefault} if empty.` }),
    ...references,
  ];
};

/** The media of files that fields take, as the modes of their fields name them. */
const MEDIA = ['image', 'video', 'audio'] as const;

const DECIDED = 'default';

/** The fields of parameters, which some models have. */
const parameterFields = ({ type, parameters = [] }: Model): FormField[] => {
  const found = (name: string) => parameters.find((one) => one.name === name);
  const flag = (path: string, label: string): FormField =>
    field(path, label, 'tiles', {
      ...{ options: [DECIDED, 'true', 'false'], byDefault: DECIDED, isRare: true },
      isTaken: found(path) !== undefined,
    });
  const [seed, negative] = [found('seed'), found('negativePrompt')];
  return [
    field('seed', 'Seed', 'whole', {
      hint: `A whole number up to ${pixels(seed?.max ?? 0)}, to make something similar again.`,
      isTaken: seed !== undefined,
      isRare: true,
    }),
    field('negativePrompt', 'Not to be seen', 'line', {
      hint: `At most ${negative?.maxCharacters ?? 0} characters.`,
      isTaken: negative !== undefined,
      isRare: true,
    }),
    ...(type === 'video' ? [flag('generateAudio', 'Sound')] : []),
    flag('promptExtend', 'Extend the text'),
  ];
};

/** The fields of a model's form, in their order, without the model itself. */
export const fieldsOf = (model: Model): FormField[] => [
  field('prompt', 'Prompt', 'lines', {
    isRequired: true,
    hint: `Describe the ${model.type}. At most ${MAX_PROMPT_CHARACTERS.toLocaleString('en')} characters.`,
  }),
  field('endUserEmail', 'End-user', 'line', {
    isRequired: true,
    hint: 'The email address of your own user.',
  }),
  ...(model.type === 'image' ? imageFields(model) : videoFields(model)),
  ...parameterFields(model),
  field('webhookUrl', 'Webhook', 'line', { hint: 'URL that is called when the request ends.', isRare: true }),
];

/** The fields to show: every field that the model takes, and fields that still hold text entered for another model. */
export const shownFields = (model: Model, values: FormValues): FormField[] =>
  fieldsOf(model).filter(({ path, isTaken }) => isTaken || (values[path] ?? '') !== '');

/** Fields whose values are true or false. */
const FLAGS = ['generateAudio', 'promptExtend'];

const inputOf = ({ path, control }: Pick<FormField, 'path' | 'control'>, text: string): unknown => {
  if (FLAGS.includes(path) && (text === 'true' || text === 'false')) return text === 'true';
  // Text that is not a number is sent unchanged: the rules report the error.
  if (control === 'whole') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  return control === 'files' ? text.replace(/\n+$/, '').split('\n') : text;
};

/** The body of the creation that a form stands for. Empty fields are left out. */
export const bodyOf = (model: Model, values: FormValues): Record<string, unknown> => {
  const body: Record<string, unknown> = { model: model.id };
  for (const { path, control } of fieldsOf(model)) {
    const text = values[path] ?? '';
    if (control === 'files' ? text.replaceAll('\n', '') === '' : text === '') continue;
    const value = inputOf({ path, control }, text);
    const [parent = '', child] = path.split('.');
    body[parent] = child === undefined ? value : { [child]: value };
  }
  return body;
};

/** The values of a form that stands for this body: the other way round. A field that the model does not have is left out. */
export const valuesOf = (model: Model, body: Readonly<Record<string, unknown>>): FormValues => {
  const values: Record<string, string> = { model: model.id };
  for (const { path } of fieldsOf(model)) {
    const [parent = '', child] = path.split('.');
    const held = body[parent];
    const value = child === undefined ? held : (held as Record<string, unknown> | undefined)?.[child];
    if (value === undefined || value === null) continue;
    const text = Array.isArray(value) ? value.join('\n') : String(value);
    if (text !== '') values[path] = text;
  }
  return values;
};

/** The service's own message for each wrong field, by its path, as its answer would name it. None: it can be sent. */
export const messagesOf = (
  model: Model,
  body: Record<string, unknown>,
  allowPrivate: boolean,
): Readonly<Record<string, string>> => {
  const parse = model.type === 'image' ? parseImageRequest : parseVideoRequest;
  const parsed = parse(body, allowPrivate);
  return parsed.ok ? {} : parsed.error.fields;
};

/** A message as a sentence about its field: `Prompt is required`. One that is a sentence already stays. */
export const messageText = (label: string, text: string): string =>
  /^(is|must|has|cannot|could|lasts|was|does|belongs|holds|names) /.test(text) ? `${label} ${text}` : text;

/** The messages of one field, as sentences. Those of a list's entries have their place, counted from 1. */
export const messagesFor = (
  { path, control, label }: FormField,
  messages: Readonly<Record<string, string>>,
): { text: string; place?: number }[] => {
  const own = messages[path];
  const ofEntries = Object.entries(messages).flatMap(([name, text]) => {
    const index = name.startsWith(`${path}[`) ? /^\[(\d+)\]$/.exec(name.slice(path.length))?.[1] : undefined;
    if (control !== 'files' || index === undefined) return [];
    const place = Number(index) + 1;
    return [{ text: messageText(`URL ${place}`, text), place }];
  });
  return [...(own === undefined ? [] : [{ text: messageText(label, own) }]), ...ofEntries];
};

/** Messages that belong to no field of the form, such as that of the model. */
export const otherMessages = (
  fields: readonly FormField[],
  messages: Readonly<Record<string, string>>,
): string[] => {
  const held = (name: string): boolean =>
    fields.some(({ path }) => name === path || name.startsWith(`${path}[`));
  return Object.entries(messages).flatMap(([name, text]) => (held(name) ? [] : [messageText(name, text)]));
};
