import { fileProblem, rangeOf, typeName } from '../../core/provider-calls/input-limits.ts';
import type { InputFileLimits, Model } from '../../packages/client/src/types.ts';
import { fieldsOf } from './form-rules.ts';

/** What a file can be, as far as fields tell. */
export type Medium = 'image' | 'video' | 'audio';

/** The facts of a file that a browser can tell before it is sent. A side or length that it cannot read is undefined. */
export interface LocalFacts {
  contentType: string;
  sizeBytes: number;
  width?: number | undefined;
  height?: number | undefined;
  durationMs?: number | undefined;
  hasAlpha?: boolean | undefined;
}

/** Content types by the ends of names, for files whose type the browser does not know. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  ...{ jpg: 'image/jpeg', jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp', bmp: 'image/bmp' },
  ...{ tif: 'image/tiff', tiff: 'image/tiff', gif: 'image/gif', heic: 'image/heic', heif: 'image/heif' },
  ...{ mp4: 'video/mp4', mov: 'video/quicktime', mp3: 'audio/mpeg', wav: 'audio/wav' },
};
/** Other names of content types. */
const ALIASES: Readonly<Record<string, string>> = {
  ...{ 'image/jpg': 'image/jpeg', 'image/x-ms-bmp': 'image/bmp', 'audio/mp3': 'audio/mpeg' },
  ...{ 'audio/wave': 'audio/wav', 'audio/x-wav': 'audio/wav', 'audio/vnd.wave': 'audio/wav' },
};

/** The content type of a file, as uploads name it. Empty where nothing tells. */
export const contentTypeOf = ({ name, type }: { name: string; type: string }): string => {
  const said = type.toLowerCase();
  if (said !== '') return ALIASES[said] ?? said;
  return BY_EXTENSION[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? '';
};

/** Why a file cannot be an input, in the service's own words for its field; undefined where nothing that is known speaks against it. */
export const localProblem = (
  facts: LocalFacts,
  medium: Medium,
  limits: InputFileLimits | undefined,
): string | undefined => {
  const kind = facts.contentType.split('/')[0];
  if (facts.contentType === '') return 'has a type that is not known';
  if (kind !== medium) return `is ${typeName(facts.contentType)}, not ${NAMES[medium]}`;
  return limits && fileProblem(facts, medium, limits as Parameters<typeof fileProblem>[2]);
};
const NAMES: Record<Medium, string> = { image: 'an image', video: 'a video', audio: 'a sound' };

/** The fields of a model that take a file of this medium. */
export const fieldsForFile = (
  model: Model,
  medium: Medium,
): { path: string; label: string; isList: boolean }[] =>
  fieldsOf(model)
    .filter((field) => field.isTaken && field.medium === medium)
    .map(({ path, label, control }) => ({ path, label, isList: control === 'files' }));

/** The limits on the files of a field, in words for its hint. Empty where none is known. */
export const limitsText = (limits: InputFileLimits | undefined): string => {
  if (!limits) return '';
  const { types, maxBytes, minSide, maxSide, alpha, minSeconds, maxSeconds } = limits;
  const sides =
    minSide === undefined && maxSide === undefined ? '' : `sides of ${rangeOf(minSide, maxSide)} px`;
  const seconds =
    minSeconds === undefined && maxSeconds === undefined ? '' : `${rangeOf(minSeconds, maxSeconds)} s`;
  return [
    `${types.map(typeName).join(', ')}${alpha === false ? ' (PNG without alpha)' : ''}`,
    `up to ${Math.floor(maxBytes / 1024 / 1024)} MB`,
    sides,
    seconds,
  ]
    .filter(Boolean)
    .join(', ');
};

const UPLOAD = /\/uploads\/[\w-]+\/upl_([0-9A-HJKMNP-TV-Z]{10})[0-9A-Z]{16}\.\w+$/;
const OUTPUT = /\/outputs\/((?:img|vid)_[0-9A-Z]{26})\/\d+\.\w+$/;

/** The URL of a file without its signature. */
export const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '');

/** Whether a URL has the form of those of uploads and outputs. */
export const isOwnFile = (url: string): boolean =>
  UPLOAD.test(withoutQuery(url)) || OUTPUT.test(withoutQuery(url));

/** The request whose output a URL names; undefined for other URLs. */
export const requestOfOutput = (url: string): string | undefined => OUTPUT.exec(withoutQuery(url))?.[1];

/** When the upload that a URL names can no longer be used; undefined for other URLs. An upload's id begins with its time. */
export const uploadExpiry = (url: string): Date | undefined => {
  const time = UPLOAD.exec(withoutQuery(url))?.[1];
  if (time === undefined) return undefined;
  const created = [...time].reduce((sum, digit) => sum * 32 + ULID_DIGITS.indexOf(digit), 0);
  return new Date(created + UPLOAD_LIFE_MILLISECONDS);
};
const ULID_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const UPLOAD_LIFE_MILLISECONDS = 2 * 86_400_000;
