import { isObject } from './http.ts';
import type { InputFile, Medium } from './input-files.ts';

type Body = Record<string, unknown>;
type Kind = Medium;

const fileOf = (kind: Kind, url: unknown, field: string): InputFile[] =>
  typeof url === 'string' ? [{ kind, url, field }] : [];

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The files that an image call to ModelArk names. */
export const filesOfArkImages = ({ image }: Body): InputFile[] =>
  [image]
    .flat()
    .flatMap((url, index) => fileOf('image', url, Array.isArray(image) ? `image[${index}]` : 'image'));

/** The files that a video call to ModelArk names. */
export const filesOfArkVideo = ({ content }: Body): InputFile[] =>
  listOf(content).flatMap((item, index) => {
    const type = isObject(item) ? item.type : undefined;
    const kind = (['image', 'video', 'audio'] as const).find((one) => type === `${one}_url`);
    const media = isObject(item) && kind ? item[`${kind}_url`] : undefined;
    return kind ? fileOf(kind, isObject(media) ? media.url : undefined, `content[${index}].${kind}_url`) : [];
  });

/** The files that an image call to Model Studio names. */
export const filesOfStudioImages = ({ input }: Body): InputFile[] => {
  const [message] = listOf(isObject(input) ? input.messages : undefined);
  return listOf(isObject(message) ? message.content : undefined).flatMap((item, index) =>
    fileOf('image', isObject(item) ? item.image : undefined, `input.messages[0].content[${index}].image`),
  );
};

const STUDIO_KINDS: Readonly<Record<string, Kind>> = {
  first_frame: 'image',
  last_frame: 'image',
  reference_image: 'image',
  reference_video: 'video',
  first_clip: 'video',
  reference_audio: 'audio',
  driving_audio: 'audio',
};

/** The files that a video call to Model Studio names. */
export const filesOfStudioVideo = ({ input }: Body): InputFile[] =>
  listOf(isObject(input) ? input.media : undefined).flatMap((item, index) => {
    const kind = isObject(item) ? STUDIO_KINDS[String(item.type)] : undefined;
    return kind && isObject(item) ? fileOf(kind, item.url, `input.media[${index}]`) : [];
  });

/** The fields of fal that name files. */
const FAL_FIELDS: Readonly<Record<string, Kind>> = {
  image_url: 'image',
  start_image_url: 'image',
  end_image_url: 'image',
  image_urls: 'image',
  reference_image_urls: 'image',
  video_url: 'video',
  reference_video_urls: 'video',
  audio_url: 'audio',
  reference_audio_urls: 'audio',
};

/** The files that a call to fal names; those of a list with their index. */
export const filesOfFal = (body: Body): InputFile[] =>
  Object.entries(FAL_FIELDS).flatMap(([field, kind]) => {
    const value = body[field];
    return Array.isArray(value)
      ? value.flatMap((url, index) => fileOf(kind, url, `${field}[${index}]`))
      : fileOf(kind, value, field);
  });
