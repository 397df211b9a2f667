import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Account } from '../../core/accounts/accounts.ts';
import { deleteRequest } from '../../core/deletion/delete-requests.ts';
import { ConflictError, NotFoundError, ValidationError } from '../../core/errors.ts';
import { loadUrlSigner } from '../../core/files/signed-urls.ts';
import { requestKindOf } from '../../core/ids.ts';
import { readable } from '../../core/observability.ts';
import { listRequests } from '../../core/requests/request-lists.ts';
import { type StoredRequest, statusAt, type VideoRequest } from '../../core/requests/request-rules.ts';
import { findRequest } from '../../core/requests/requests.ts';
import { type OPENAI_VIDEO_ROUTES, routeText } from '../../core/routes.ts';
import { json } from '../http/api-handler.ts';
import type { ApiRequest } from '../http/api-request.ts';
import { authorize, identifyCaller } from '../http/authorize.ts';
import { visibleRequest } from '../http/record-read.ts';
import { createOpenAiVideo } from './create-video.ts';
import { renderVideo } from './render-video.ts';

/** The header that tells OpenAI's clients when to look at an unfinished video again. */
const LOOK_AGAIN = { 'openai-poll-after-ms': '5000' };

const MOST_LISTED = 100;
const DEFAULT_LISTED = 20;

/** The id in the path if it is one of a video. Throws `NotFoundError` otherwise. */
const videoIdOf = (request: ApiRequest): string => {
  const id = request.pathParameter('requestId');
  if (requestKindOf(id) !== 'video') throw new NotFoundError('There is no such video.');
  return id;
};

const readVideo = async (request: ApiRequest): Promise<VideoRequest> => {
  const account = await authorize(identifyCaller(request), 'generations:read', request.now);
  const stored = visibleRequest(await findRequest(videoIdOf(request)), 'video', account, request.now);
  if (stored.kind !== 'video') throw new NotFoundError('There is no such video.');
  return stored;
};

/** 200 with a video; while it is not finished, with the pause before the next look. */
const getVideo = async (request: ApiRequest): Promise<APIGatewayProxyResult> => {
  const video = renderVideo(await readVideo(request), request.now);
  const isFinished = video.status === 'completed' || video.status === 'failed';
  return json(200, video, isFinished ? {} : LOOK_AGAIN);
};

/** 302 to the signed URL of the video's file. Throws `NotFoundError` while there is no file, and when it has expired. */
const getContent = async (request: ApiRequest): Promise<APIGatewayProxyResult> => {
  const video = await readVideo(request);
  const variant = request.queryParameter('variant') ?? 'video';
  if (variant !== 'video') throw new ValidationError({ variant: 'must be video: nothing else is offered' });
  const status = statusAt(video, request.now);
  if (status === 'expired') throw new NotFoundError('This video has expired.');
  if (status !== 'succeeded')
    throw new NotFoundError(`This video is not there: it is ${renderVideo(video, request.now).status}.`);
  const [{ objectKey } = { objectKey: undefined }] = video.outputs ?? [];
  if (objectKey === undefined || video.expiresAt === undefined)
    throw new NotFoundError('The file of this video could not be stored.');
  const sign = await loadUrlSigner();
  return { statusCode: 302, headers: { Location: sign(objectKey, video.expiresAt) }, body: '' };
};

/** The query of a list. Throws `ValidationError` for values that are not offered. */
const listQuery = (
  request: ApiRequest,
): { limit: number; after: string | undefined; isAscending: boolean } => {
  const {
    limit = String(DEFAULT_LISTED),
    order = 'desc',
    after,
  } = Object.fromEntries(['limit', 'order', 'after'].map((name) => [name, request.queryParameter(name)]));
  const count = /^\d{1,3}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > MOST_LISTED)
    throw new ValidationError({ limit: `must be from 1 to ${MOST_LISTED}` });
  if (order !== 'desc' && order !== 'asc') throw new ValidationError({ order: 'must be asc or desc' });
  if (after !== undefined && requestKindOf(after) !== 'video')
    throw new ValidationError({ after: 'must be the id of a video' });
  return { limit: count, after, isAscending: order === 'asc' };
};

/** 200 with the account's videos, newest first unless the order is ascending. */
const listVideos = async (request: ApiRequest): Promise<APIGatewayProxyResult> => {
  const { accountId } = await authorize(identifyCaller(request), 'generations:read', request.now);
  const { limit, after: afterRequest, isAscending } = listQuery(request);
  const page = { page: 1, pageSize: limit };
  const found = await listRequests(
    { accountId, kind: 'video', filter: { afterRequest, isAscending }, now: request.now },
    page,
  );
  const isVideo = (stored: StoredRequest) => stored.kind === 'video';
  const data = readable(
    found.items.filter(isVideo),
    (stored) => renderVideo(stored, request.now),
    ({ requestId }) => requestId,
  );
  const [first, last] = [found.items[0], found.items.at(-1)].map((item) => item?.requestId ?? null);
  return json(200, { object: 'list', data, has_more: found.hasMore, first_id: first, last_id: last });
};

/** 200 once a video is deleted. Throws `ConflictError` for an unfinished one. */
const deleteVideo = async (request: ApiRequest): Promise<APIGatewayProxyResult> => {
  const { accountId }: Account = await authorize(identifyCaller(request), 'generations:write', request.now);
  const id = videoIdOf(request);
  const { outcome } = await deleteRequest(accountId, id, request.now);
  if (outcome === 'not_found') throw new NotFoundError('There is no such video.');
  if (outcome === 'conflict') throw new ConflictError('This video is queued or in progress.');
  return json(200, { id, object: 'video.deleted', deleted: true });
};

const SERVE: Record<
  keyof typeof OPENAI_VIDEO_ROUTES,
  (request: ApiRequest) => Promise<APIGatewayProxyResult>
> = {
  'create-openai-video': (request) => createOpenAiVideo(request),
  'list-openai-videos': listVideos,
  'get-openai-video': getVideo,
  'delete-openai-video': deleteVideo,
  'get-openai-video-content': getContent,
};
const BY_ROUTE = new Map(
  Object.entries(SERVE).map(([name, serve]) => [routeText(name as keyof typeof OPENAI_VIDEO_ROUTES), serve]),
);

/** Serves a route of videos in OpenAI's shape. Throws its errors. */
export const serveVideos = (request: ApiRequest): Promise<APIGatewayProxyResult> => {
  const serve = BY_ROUTE.get(request.route);
  if (!serve) throw new NotFoundError('There is no such route.');
  return serve(request);
};
