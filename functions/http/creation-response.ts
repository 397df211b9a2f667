import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Creation } from '../../core/creation/create-request.ts';
import { requiredEnv } from '../../core/environment.ts';
import { recordUrl, renderQueued } from '../../core/requests/render-record.ts';
import { json } from './responses.ts';

/** Recommended seconds before the first read of a new request: the polling interval. */
const POLL_AFTER_SECONDS = '5';

/** 202 with the queued record, the URL to read it at, and whether the creation is a repetition. */
export const creationResponse = ({ request, replayed }: Creation): APIGatewayProxyResult => {
  const publicBaseUrl = requiredEnv('PUBLIC_BASE_URL');
  return json(202, renderQueued(request, publicBaseUrl), {
    Location: recordUrl(publicBaseUrl, request),
    'Retry-After': POLL_AFTER_SECONDS,
    ...(replayed ? { 'Idempotency-Replayed': 'true' } : {}),
  });
};
