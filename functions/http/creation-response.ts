import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Creation } from '../../core/creation/create-request.ts';
import { requiredEnv } from '../../core/environment.ts';
import { recordUrl, renderQueued } from '../../core/requests/render-record.ts';
import { json, READ_AGAIN } from './responses.ts';

/** 202 with the queued record, the URL to read it at, and whether the creation is a repetition. */
export const creationResponse = ({ request, replayed }: Creation): APIGatewayProxyResult => {
  const publicBaseUrl = requiredEnv('PUBLIC_BASE_URL');
  return json(202, renderQueued(request, publicBaseUrl), {
    Location: recordUrl(publicBaseUrl, request),
    ...READ_AGAIN,
    ...(replayed ? { 'Idempotency-Replayed': 'true' } : {}),
  });
};
