import { ValidationError } from '../../core/errors.ts';
import { parseFields } from '../../core/fields.ts';
import { createUpload } from '../../core/uploads/create-upload.ts';
import type { UploadAnswer } from '../../core/uploads/upload-answers.ts';
import { type NewUpload, sizeProblems, UPLOAD_BODY } from '../../core/uploads/upload-rules.ts';
import { apiHandler } from '../http/api-handler.ts';
import type { ApiRequest } from '../http/api-request.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { checkAll } from '../http/check-all.ts';
import { json } from '../http/responses.ts';

/** The file that the body announces. Throws `ValidationError`. */
const readUpload = (request: ApiRequest): NewUpload => {
  const read = request.readBody();
  if (!read.ok) throw read.error;
  const { values, fields } = parseFields(UPLOAD_BODY, read.body);
  const wrong = { ...fields, ...sizeProblems(values) };
  const { contentType, bytes } = values;
  if (contentType === undefined || bytes === undefined || Object.keys(wrong).length > 0)
    throw new ValidationError(wrong);
  return { contentType, bytes };
};

/** POST /v1/uploads. 201 with a form for one file; 400, 429. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'generations:write', request.now);
  const upload = checkAll(
    () => readUpload(request),
    () => request.query({}),
  );
  return json(201, (await createUpload(account, upload, request.now)) satisfies UploadAnswer);
});
