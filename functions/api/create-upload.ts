import { routesOf } from '../../core/provider-calls/model-routes.ts';
import { createUpload } from '../../core/uploads/create-upload.ts';
import type { UploadAnswer } from '../../core/uploads/upload-answers.ts';
import { offeredTypes, sizeProblems, uploadBody } from '../../core/uploads/upload-rules.ts';
import { apiHandler, json } from '../http/api-handler.ts';
import { checkAll } from '../http/api-request.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';

/** POST /v1/uploads. 201 with a form for one file; 400, 402, 429. */
export const handler = apiHandler(async (request) => {
  const account = await authorize(identifyCaller(request), 'generations:write', request.now);
  const [upload] = checkAll(
    () => request.body(uploadBody(offeredTypes(routesOf)), sizeProblems),
    () => request.query({}),
  );
  return json(201, (await createUpload(account, upload, request.now)) satisfies UploadAnswer);
});
