import type { Medium } from '../errors.ts';
import type { AskedOfImages, AskedOfVideo } from './request-rules.ts';

/** The fields that name files, each with their medium, in the order in which every adapter sends them. */
const INPUT_FIELDS = {
  references: 'image',
  image: 'image',
  lastFrame: 'image',
  referenceImages: 'image',
  referenceVideos: 'video',
  referenceAudios: 'audio',
} as const satisfies Partial<Record<keyof AskedOfImages | keyof AskedOfVideo, Medium>>;
const FIELDS = Object.entries(INPUT_FIELDS) as [string, Medium][];

/**
 * An input file of a request or creation, with the path of its field, such as `references[2]`. The `url` of a file of ours is the
 * file's handle.
 */
export interface InputFile {
  field: string;
  medium: Medium;
  url: string;
}

/** The input files of a request or creation. A field of another type names none. */
export const inputFilesOf = (values: object): InputFile[] => {
  const given = values as Record<string, unknown>;
  return FIELDS.flatMap(([name, medium]) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    const listed: [string, unknown][] = Array.isArray(value)
      ? value.map((url, index) => [`${name}[${index}]`, url])
      : [[name, value]];
    return listed.flatMap(([field, url]) => (typeof url === 'string' ? [{ field, medium, url }] : []));
  });
};

/** The same values with each URL or handle of an input file replaced. */
export const withInputFiles = <Values extends object>(
  values: Values,
  replace: (url: string) => string,
): Values => {
  const replaced = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaced);
    return typeof value === 'string' ? replace(value) : value;
  };
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      Object.hasOwn(INPUT_FIELDS, name) ? replaced(value) : value,
    ]),
  ) as Values;
};
