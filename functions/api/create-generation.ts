import { createRequest } from '../../core/creation/create-request.ts';
import { imageSubmission } from '../../core/creation/submission.ts';
import { creationRoute } from '../http/creation-route.ts';

/** POST /v1/generations. */
export const handler = creationRoute('create-generation', imageSubmission, createRequest);
