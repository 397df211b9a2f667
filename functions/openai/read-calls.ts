import { type FieldErrors, ValidationError } from '../../core/errors.ts';
import { CATALOG } from '../../core/models/catalog.ts';
import type { ApiRequest } from '../http/api-request.ts';

/** The files of a form: a function takes 6 MB, in base64, with all else. */
const MAX_FILES_BYTES = 4 * 1024 * 1024;
/** The largest body with files: its texts besides the files. */
export const MAX_FORM_BYTES = MAX_FILES_BYTES + 256 * 1024;

/** The most images that any model takes, which also bounds the parts of a form: forms have few texts. */
export const MAX_IMAGES = Math.max(
  ...CATALOG.map((model) => (model.type === 'image' ? model.maxReferences : 0)),
);
const MAX_PARTS = MAX_IMAGES + 30;
export const TOO_MANY_IMAGES = `must be at most ${MAX_IMAGES}`;

/** A file of a form. Its bytes are stored, hashed and handed on here, and read by the function that measures inputs alone. */
export interface FormFile {
  bytes: Uint8Array;
}

/** The body of a call as sent. */
export interface AskedImages {
  /** The parameters; texts of a form that are numbers or truth values as such. */
  given: Record<string, unknown>;
  /** The references in their order: files, and URLs given as text. */
  images: (FormFile | string)[];
  fields: FieldErrors;
}

/** Reads a JSON body. Throws `ValidationError` for a body that is not JSON, or too large. */
export const readImageBody = async (request: ApiRequest): Promise<AskedImages> => {
  const read = request.readBody();
  if (!read.ok) throw read.error;
  return { given: read.body, images: [], fields: {} };
};

/** Texts that stand for other values: a form has texts only. */
const NUMBERS = new Set(['n', 'partial_images', 'output_compression']);
const valueInForm = (name: string, text: string): unknown => {
  if (NUMBERS.has(name) && /^\d{1,9}$/.test(text)) return Number(text);
  return name === 'stream' && /^(true|false)$/.test(text) ? text === 'true' : text;
};

/** The form fields that hold images. Errors name the first field. */
export interface ImageFileFields {
  names: readonly [string, ...string[]];
  most: number;
  isRequired: boolean;
}
const OF_EDITS: ImageFileFields = { names: ['image', 'image[]'], most: MAX_IMAGES, isRequired: true };

/** Reads a `multipart/form-data` body. Throws `ValidationError` for a body that is not one, or too large. */
export const readImageForm = async (
  request: ApiRequest,
  { names, most, isRequired }: ImageFileFields = OF_EDITS,
): Promise<AskedImages> => {
  const bytes = request.rawBody();
  if (bytes.byteLength > MAX_FORM_BYTES) throw notAForm('must be at most 4 MiB');
  const tooMany = `must be at most ${most}`;
  const boundary = boundaryOf(request.header('Content-Type') ?? '');
  if (hasTooManyParts(bytes, boundary)) throw new ValidationError({ [names[0]]: tooMany });
  const form = await parseForm(bytes, boundary);
  // Maps, so that `__proto__` is an ordinary name.
  const given = new Map<string, unknown>();
  const fields = new Map<string, string>();
  const images: (FormFile | string)[] = [];
  let fileBytes = 0;
  for (const [name, value] of form) {
    if (names.includes(name)) {
      images.push(typeof value === 'string' ? value : { bytes: Buffer.from(await value.arrayBuffer()) });
      if (typeof value !== 'string') fileBytes += value.size;
    } else if (given.has(name)) {
      fields.set(name, 'is given more than once');
    } else {
      // No parameter is an object, so a file in place of a text is refused, in the parameter's own words.
      given.set(name, typeof value === 'string' ? valueInForm(name, value) : {});
    }
  }
  if (images.length > most) fields.set(names[0], tooMany);
  if (isRequired && images.length === 0) fields.set(names[0], 'is required');
  if (fileBytes > MAX_FILES_BYTES) fields.set(names[0], 'must be at most 4 MiB, all files together');
  return { given: Object.fromEntries(given), images, fields: Object.fromEntries(fields) };
};

/** The characters of a boundary (RFC 2046, 5.1.1): none that a content type escapes. */
const BOUNDARY = /^[\w'()+,./:=? -]+$/;

/** The boundary of a form. Throws `ValidationError` for the content type of anything else. */
const boundaryOf = (contentType: string): string => {
  if (!/^multipart\/form-data\s*;/i.test(contentType)) throw notAForm('must be multipart/form-data');
  const [, quoted, plain = ''] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (!BOUNDARY.test(boundary)) throw notAForm(NOT_WHOLE);
  return boundary;
};

/** Whether a form has more parts than any call. Looks no further than that: reading them takes seconds. */
const hasTooManyParts = (bytes: Buffer, boundary: string): boolean => {
  const delimiter = `--${boundary}`;
  let at = -delimiter.length;
  for (let parts = 0; parts <= MAX_PARTS + 1; parts++) {
    at = bytes.indexOf(delimiter, at + delimiter.length, 'latin1');
    if (at < 0) return false;
  }
  return true;
};

const NOT_WHOLE = 'must be multipart/form-data, whole and with its boundary';

/** Reads a form by the boundary whose parts were counted: a content type can name two. */
const parseForm = async (bytes: Buffer, boundary: string): Promise<FormData> => {
  const headers = { 'Content-Type': `multipart/form-data; boundary="${boundary}"` };
  try {
    return await new Response(new Uint8Array(bytes), { headers }).formData();
  } catch (error) {
    // By its name: the platform's own may be of another realm.
    if ((error as Error).name !== 'TypeError') throw error;
    throw notAForm(NOT_WHOLE);
  }
};

const notAForm = (problem: string): ValidationError =>
  new ValidationError({ body: problem }, `The request body ${problem}.`);
