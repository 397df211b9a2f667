import type { APIGatewayProxyResult } from 'aws-lambda';
import * as z from 'zod/mini';
import type { Account } from '../../core/accounts/accounts.ts';
import { requiredEnv } from '../../core/environment.ts';
import { NotFoundError } from '../../core/errors.ts';
import { fileUrl } from '../../core/files/file-handles.ts';
import type { SignUrl } from '../../core/files/signed-urls.ts';
import { type RequestKind, requestKindOf } from '../../core/ids.ts';
import { renderRecord } from '../../core/requests/render-record.ts';
import { isRemoved, isTerminal, type StoredRequest } from '../../core/requests/request-rules.ts';
import { json, READ_AGAIN } from './api-handler.ts';
import type { ApiRequest } from './api-request.ts';

/** The query of the reads of one request. */
export const RECORD_QUERY = { include: z.optional(z.literal('input', { error: 'must be input' })) };

/**
 * The request id in the path; undefined for an id of another kind, which needs no read. Throws `ValidationError` for a wrong
 * query parameter and for a path that cannot be decoded.
 */
export const requestIdParameter = (request: ApiRequest, kind: RequestKind): string | undefined => {
  request.query(RECORD_QUERY);
  const requestId = request.pathParameter('requestId');
  return requestKindOf(requestId) === kind ? requestId : undefined;
};

/** The request, if it is the caller's and not removed. Throws `NotFoundError` otherwise. */
export const visibleRequest = (
  stored: StoredRequest | undefined,
  kind: RequestKind,
  account: Account,
  now: Date,
): StoredRequest => {
  if (stored?.accountId !== account.accountId || isRemoved(stored, now)) {
    throw new NotFoundError(`There is no such ${kind === 'image' ? 'generation' : 'video'}.`);
  }
  return stored;
};

/** 200 with the record of a request, its file URLs signed, and what else the query asks for; of an unfinished one with `Retry-After`. */
export const recordResponse = (
  request: ApiRequest,
  stored: StoredRequest,
  signUrl: SignUrl,
): APIGatewayProxyResult => {
  const asked = request.query(RECORD_QUERY).include === 'input' && { inputUrl: fileUrl };
  const publicBaseUrl = requiredEnv('PUBLIC_BASE_URL');
  const record = renderRecord(stored, { now: request.now, publicBaseUrl, signUrl, ...asked });
  return json(200, record, isTerminal(stored) ? {} : READ_AGAIN);
};
