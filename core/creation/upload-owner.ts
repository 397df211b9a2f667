import { requiredEnv } from '../environment.ts';
import type { FieldErrors } from '../errors.ts';
import { uploadProblem } from '../uploads/upload-urls.ts';
import type { NewRequest } from './submission.ts';

/** The texts of the fields of a creation that can be URLs of files, with their places in lists. */
const textsOf = ({ model, prompt, endUserEmail, webhookUrl, ...fields }: NewRequest): [string, string][] =>
  Object.entries(fields)
    .flatMap(([field, value]): [string, unknown][] =>
      Array.isArray(value) ? value.map((one, index) => [`${field}[${index}]`, one]) : [[field, value]],
    )
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string');

/** Errors by field for uploads of another account, and for own ones that have expired. */
export const uploadProblems = (creation: NewRequest, accountId: string, now: Date): FieldErrors => {
  const filesUrl = requiredEnv('FILE_DELIVERY_BASE_URL');
  return Object.fromEntries(
    textsOf(creation).flatMap(([field, text]) => {
      const problem = uploadProblem(text, accountId, filesUrl, now);
      return problem === undefined ? [] : [[field, problem]];
    }),
  );
};
