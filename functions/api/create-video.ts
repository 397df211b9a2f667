import { createRequest } from '../../core/creation/create-request.ts';
import { videoSubmission } from '../../core/creation/submission.ts';
import { creationRoute } from '../http/creation-route.ts';

/** POST /v1/videos. */
export const handler = creationRoute('create-video', videoSubmission, createRequest);
