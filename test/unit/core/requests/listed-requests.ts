import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { listRequests, type RequestFilter } from '../../../../core/requests/request-lists.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anImageRequest, putRequest } from '../../builders/entities.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { memory } from '../../fakes/fresh-table.ts';

/** The queries that were made. */
export const queries = () => memory.client.commandCalls(QueryCommand).map(({ args }) => args[0].input);

/** A page of a list of requests for images. */
export const list = (filter: RequestFilter = {}, page = 1, pageSize = 20) =>
  listRequests({ accountId: ACCOUNT_ID, kind: 'image', filter, now: NOW }, { page, pageSize });

/** The ids on the first page. */
export const idsOf = async (filter: RequestFilter) => (await pageOf(filter, 1, 50))[0];

/** The ids on a page, and whether it says that there are more. */
export const pageOf = async (filter: RequestFilter, page: number, pageSize: number) => {
  const { items, hasMore } = await list(filter, page, pageSize);
  return [items.map(({ requestId }) => requestId), hasMore] as const;
};

/** Puts a request that was created so many milliseconds after `NOW`; answers its id. */
export const given = (milliseconds: number, overrides: Partial<ImageRequest> = {}): string => {
  const createdAt = new Date(NOW.getTime() + milliseconds);
  const requestId = overrides.requestId ?? aRequestId(createdAt);
  putRequest(memory, anImageRequest({ createdAt: createdAt.toISOString(), ...overrides, requestId }));
  return requestId;
};

/** Puts requests created one second after another; answers their ids, newest first. */
export const many = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => given(index * 1000)).reverse();
