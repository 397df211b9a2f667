import type { Medium } from '../errors.ts';
import type { StoredRequest } from './request-rules.ts';

/** An input file of a request: its path in a creation, such as `references[2]`, its medium, and its URL. */
export interface InputFile {
  field: string;
  medium: Medium;
  url: string;
}

const listed = (name: string, medium: Medium, urls: readonly string[]): InputFile[] =>
  urls.map((url, index) => ({ field: `${name}[${index}]`, medium, url }));

const frame = (field: string, url: string | undefined): InputFile[] =>
  url === undefined ? [] : [{ field, medium: 'image', url }];

/** The input files of a request, in the order in which every adapter sends them. */
export const inputFilesOf = (request: StoredRequest): InputFile[] =>
  request.kind === 'image'
    ? listed('references', 'image', request.references)
    : [
        ...frame('image', request.image),
        ...frame('lastFrame', request.lastFrame),
        ...listed('referenceImages', 'image', request.referenceImages),
        ...listed('referenceVideos', 'video', request.referenceVideos),
        ...listed('referenceAudios', 'audio', request.referenceAudios),
      ];
