import * as z from 'zod/mini';
import type { ApiRequest } from '../http/api-request.ts';
import {
  type AskedImages,
  type FormFile,
  MAX_FORM_BYTES,
  MAX_IMAGES,
  readImageForm,
  TOO_MANY_IMAGES,
} from './read-calls.ts';

/** The images of a JSON body, as OpenAI's own API takes them. */
const Images = z.array(z.strictObject({ image_url: z.string() })).check(z.minLength(1));

/** Reads the body of an edit: a form, or JSON. Throws `ValidationError` for a body that is neither, or too large. */
export const readImageEdit = async (request: ApiRequest): Promise<AskedImages> =>
  /^application\/json\b/i.test(request.header('Content-Type') ?? '')
    ? readJsonEdit(request)
    : readImageForm(request);

const readJsonEdit = (request: ApiRequest): AskedImages => {
  const read = request.readBody(MAX_FORM_BYTES / 1024);
  if (!read.ok) throw read.error;
  const { images: list, ...given } = read.body;
  const refuse = (problem: string) => ({ given, images: [], fields: { images: problem } });
  if (list === undefined) return refuse('is required');
  if (Array.isArray(list) && list.length > MAX_IMAGES) return refuse(TOO_MANY_IMAGES);
  const named = Images.safeParse(list);
  if (!named.success) return refuse('must be a list of objects with image_url');
  const images = named.data.map(({ image_url }) => imageIn(image_url));
  return { given, images, fields: {} };
};

const DATA_URL = /^data:[^,]{0,100};base64,/i;

/** The file of a data URL; other URLs are returned unchanged. */
export const imageIn = (url: string): FormFile | string => {
  const [head] = DATA_URL.exec(url) ?? [];
  return head === undefined ? url : { bytes: Buffer.from(url.slice(head.length), 'base64') };
};
