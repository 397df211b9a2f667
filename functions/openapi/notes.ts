import { MAX_PROMPT_CHARACTERS } from '../../core/creation/creation-fields.ts';
import { MAX_EMAIL_LENGTH } from '../../core/end-users/email-rules.ts';
import { MAX_USAGE_DAYS, USAGE_DIMENSIONS } from '../../core/ledger/usage-rules.ts';
import { CATALOG } from '../../core/models/catalog.ts';
import { PRESET_SIDE_PIXELS } from '../../core/models/size-presets.ts';
import { UPLOAD_TYPES } from '../../core/uploads/upload-rules.ts';
import { MAX_IDS } from '../http/bulk-delete-body.ts';
import { type FieldNotes, type Json, schemaRef } from './json-schema.ts';

const MAX_URL_CHARACTERS = 2048;
const url = { type: 'string', format: 'uri', maxLength: MAX_URL_CHARACTERS } satisfies Json;
/** Longer text is refused as it is; shorter text may become an address when it is trimmed and normalized. */
const MAX_GIVEN_EMAIL = 2000;

const most = (limit: (model: (typeof CATALOG)[number]) => number): number => Math.max(...CATALOG.map(limit));
const mostImages = most((model) => (model.type === 'image' ? model.maxImagesPerRequest : 0));
const longestVideo = most((model) => (model.type === 'video' ? model.durationSec.max : 0));
const shortestVideo = -most((model) => (model.type === 'video' ? -model.durationSec.min : -Infinity));
const presets = Object.keys(PRESET_SIDE_PIXELS)
  .map((preset) => preset.replace('.', '\\.'))
  .join('|');

const idsOf = (type: (typeof CATALOG)[number]['type']): string[] =>
  CATALOG.flatMap((model) => (model.type === type ? [model.id] : []));
/** The ids of this version's models. Open: a model may be added without a new document. */
const modelIds = (type: (typeof CATALOG)[number]['type'], noun: string): Json => ({
  description: `The id of a model for ${noun}. \`GET /v1/models\` lists those on offer now.`,
  anyOf: [{ type: 'string', enum: idsOf(type) }, { type: 'string' }],
});
/** The schemas of model ids. */
export const MODEL_ID_SCHEMAS = {
  ImageModelId: modelIds('image', 'images'),
  VideoModelId: modelIds('video', 'videos'),
};

// No `default`: generators of types take a field with one for always there, and so for required.
const common: FieldNotes = {
  prompt: {
    description: `1 to ${MAX_PROMPT_CHARACTERS} characters (code points) after trimming.`,
    pattern: '\\S',
  },
  endUserEmail: {
    description: `Your own user, created on first use. An email address of at most ${MAX_EMAIL_LENGTH} visible characters once it is trimmed, normalized (NFKC) and lower-cased.`,
    maxLength: MAX_GIVEN_EMAIL,
  },
  webhookUrl: {
    description:
      'Where to send the result. An absolute `https:` URL on a public host, without user information.',
    ...url,
  },
};

/** The fields of parameters, which some models have. */
const parameterNotes: FieldNotes = {
  seed: {
    description:
      'Where `parameters` of the model has it: makes a repetition similar. Of several calls to the provider, each gets the next one.',
    minimum: 0,
  },
  negativePrompt: {
    description: 'Where `parameters` of the model has it: what shall not be seen.',
    pattern: '\\S',
  },
  promptExtend: {
    description:
      "Where `parameters` of the model has it: whether its maker rewrites the prompt first. Default: the maker's.",
  },
};
const soundNote = {
  generateAudio: {
    description:
      'Where `parameters` of the model has it: whether the video has sound. Default: what the operator set.',
  },
};

const modelNote = (id: keyof typeof MODEL_ID_SCHEMAS) => ({
  description: 'A model that `GET /v1/models` lists now.',
  ...schemaRef(id),
});

/** A list of URLs; how many a model takes, it says itself. */
const urls = (description: string) => ({ description, items: url });

/** The fields of a creation of images. */
export const IMAGE_NOTES: FieldNotes = {
  ...common,
  ...parameterNotes,
  model: modelNote('ImageModelId'),
  size: {
    description:
      'One of the `sizePresets` of the model, or `<width>x<height>` within its `explicitSize`. Default: its `defaultSize`.',
    pattern: `^(${presets}|[1-9]\\d{0,5}x[1-9]\\d{0,5})$`,
  },
  aspectRatio: { description: 'Default: `auto`, the only one with an explicit size.' },
  n: {
    description:
      'Images to make, at most `maxImagesPerRequest` of the model; only 1 with `sequential`. Default: 1.',
    maximum: mostImages,
  },
  references: urls('URLs of reference images, at most `maxReferences` of the model.'),
  sequential: {
    description: 'A series of related images, where `capabilities.sequential` of the model is true.',
  },
  sequentialOptions: { description: 'Only with `sequential`.' },
  'sequentialOptions.maxImages': {
    description:
      'Most images of the series: with the number of references at most `maxImagesPerRequest` of the model, which is the default.',
    maximum: mostImages,
  },
};

/** The field of a quote beside those of the creation. */
export const KIND_NOTE: FieldNotes = { kind: { description: 'What the creation would make.' } };

/** The fields of a creation of a video. */
export const VIDEO_NOTES: FieldNotes = {
  ...common,
  ...parameterNotes,
  ...soundNote,
  model: modelNote('VideoModelId'),
  resolution: { description: 'One of the `resolutions` of the model. Default: its `defaultResolution`.' },
  durationSec: {
    description: 'Seconds, within `durationSec` of the model, which also has the default.',
    minimum: shortestVideo,
    maximum: longestVideo,
  },
  image: {
    description: 'URL of the first frame. Required where `requiresImage` of the model is true.',
    ...url,
  },
  lastFrame: { description: 'URL of the last frame; only together with `image`.', ...url },
  referenceImages: urls('URLs, at most `maxReferenceImages` of the model; not with `image` or `lastFrame`.'),
  referenceVideos: urls(
    'URLs, at most `maxReferenceVideos` of the model; not with `image` or `lastFrame`. Each is measured: at most `referenceVideoMaxSeconds`, and `maxCombinedSeconds` together with the output.',
  ),
  referenceAudios: urls('URLs, at most `maxReferenceAudios` of the model; not with `image` or `lastFrame`.'),
  ratio: { description: 'One of the `ratios` of the model; refused on a model without them.' },
};

/** The field of a bulk deletion. */
export const BULK_DELETE_NOTES: FieldNotes = {
  requestIds: { description: `At most ${MAX_IDS} ids, of images and videos.`, items: { type: 'string' } },
};

/** The fields of a budget. */
export const BUDGET_NOTES: FieldNotes = {
  perDay: { description: 'xTokens in a UTC day, with at most 3 decimals; `null`: any amount.', minimum: 0 },
  perMonth: {
    description: 'xTokens in a calendar month (UTC), with at most 3 decimals; `null`: any amount.',
    minimum: 0,
  },
};

/** The fields of an upload. */
export const UPLOAD_NOTES: FieldNotes = {
  contentType: {
    description: 'The type of the file. It is sent, stored and served as this type.',
    enum: Object.keys(UPLOAD_TYPES),
  },
  bytes: {
    description:
      'The exact size of the file: at most 31,457,280 (30 MiB) for images, 104,857,600 (100 MiB) for videos.',
    maximum: Math.max(...Object.values(UPLOAD_TYPES).map(({ maxBytes }) => maxBytes)),
  },
};

/** The query parameter of the balance. */
export const BALANCE_NOTES: FieldNotes = {
  include: { description: 'Adds `account`: the id and the name of your account.' },
};

/** The query parameter of the models. */
export const MODELS_NOTES: FieldNotes = {
  include: { description: 'Adds `inputs`: the limits on input files.' },
};

/** The query parameters of the lists. */
export const QUERY_NOTES: FieldNotes = {
  page: { description: 'Counts from 1.', type: 'integer' },
  pageSize: { description: 'Items on a page.', type: 'integer' },
  endUserEmail: { description: 'Only requests of this end-user.' },
  status: { description: 'Only requests that read so now.' },
  model: { description: 'Only requests of this model.' },
  createdAfter: {
    description:
      'Only requests strictly newer: an ISO 8601 date (midnight UTC), or a date-time with `Z` or an offset.',
    type: 'string',
  },
  from: { description: 'The first day: a UTC date like `2026-11-01`.', type: 'string', format: 'date' },
  to: {
    description: `The day after the last, at most ${MAX_USAGE_DAYS} days after \`from\`.`,
    type: 'string',
    format: 'date',
  },
  by: {
    description:
      'What to tell the usage by: any of `day`, `model`, `endUser` and `key`, with commas between.',
    type: 'string',
    pattern: `^(${USAGE_DIMENSIONS.join('|')})(,(${USAGE_DIMENSIONS.join('|')}))*$`,
  },
  createdBefore: { description: 'Only requests strictly older: as `createdAfter`.', type: 'string' },
  include: { description: 'Adds `input` to the record: what was asked, with defaults applied.' },
  blocked: { description: 'Only end-users that are blocked, or only those that are not.', type: 'boolean' },
  email: { description: 'Only end-users whose address holds this text, in any case.' },
};
