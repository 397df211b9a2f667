import type { APIGatewayProxyResult } from 'aws-lambda';
import { requiredEnv } from '../../core/environment.ts';
import { fileUrl } from '../../core/files/file-handles.ts';
import { loadUrlSigner } from '../../core/files/signed-urls.ts';
import type { RequestKind } from '../../core/ids.ts';
import { readable } from '../../core/observability.ts';
import { renderRecord } from '../../core/requests/render-record.ts';
import { listRequests } from '../../core/requests/request-lists.ts';
import { json } from './api-handler.ts';
import type { ApiRequest } from './api-request.ts';
import { REQUESTS_QUERIES } from './request-queries.ts';

/** 200 with a page of an account's requests of a kind, newest first, their file URLs signed. */
export const requestList = async (
  request: ApiRequest,
  kind: RequestKind,
  accountId: string,
): Promise<APIGatewayProxyResult> => {
  const { page, pageSize, include, ...filter } = request.query(REQUESTS_QUERIES[kind]);
  const [found, signUrl] = await Promise.all([
    listRequests({ accountId, kind, filter, now: request.now }, { page, pageSize }),
    loadUrlSigner(),
  ]);
  const context = {
    now: request.now,
    publicBaseUrl: requiredEnv('PUBLIC_BASE_URL'),
    signUrl,
    ...(include === 'input' && { inputUrl: fileUrl }),
  };
  const items = readable(
    found.items,
    (stored) => renderRecord(stored, context),
    ({ requestId }) => requestId,
  );
  return json(200, { ...found, items });
};
