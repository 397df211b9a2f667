import { requiredEnv } from '../environment.ts';
import type { FieldErrors } from '../errors.ts';
import { uploadProblem } from '../uploads/upload-urls.ts';
import type { NewRequest } from './submission.ts';

/** Every URL of a file in a creation, by its field. */
const fileUrls = (creation: NewRequest): [field: string, url: string][] => {
  const listed = (name: string, urls: readonly string[]): [string, string][] =>
    urls.map((url, index) => [`${name}[${index}]`, url]);
  if ('references' in creation) return listed('references', creation.references);
  const { image, lastFrame, referenceImages, referenceVideos, referenceAudios } = creation;
  return [
    ...(image === undefined ? [] : [['image', image] as [string, string]]),
    ...(lastFrame === undefined ? [] : [['lastFrame', lastFrame] as [string, string]]),
    ...listed('referenceImages', referenceImages),
    ...listed('referenceVideos', referenceVideos),
    ...listed('referenceAudios', referenceAudios),
  ];
};

/** Errors by field for uploads of another account, and for own ones that have expired. */
export const uploadProblems = (creation: NewRequest, accountId: string, now: Date): FieldErrors => {
  const filesUrl = requiredEnv('FILE_DELIVERY_BASE_URL');
  const found = fileUrls(creation).map(([field, url]) => [
    field,
    uploadProblem(url, accountId, filesUrl, now),
  ]);
  return Object.fromEntries(found.filter(([, problem]) => problem !== undefined));
};
