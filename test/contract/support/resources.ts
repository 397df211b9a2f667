import { type Answer, refusal } from './answers.ts';
import { type AnyRecord, accepted, type Caller, eventually, send, settled, unique } from './client.ts';
import { ops } from './local-service.ts';

/** A page of any list. */
export interface ListPage<T> {
  items: T[];
  page: number;
  pageSize: number;
  hasMore: boolean;
}

/** An end-user as the list shows them. */
export interface EndUser {
  email: string;
  createdAt: string;
  lastActiveAt: string;
  totalRequests: number;
  totalXTokensSpent: number;
  blockedAt: string | null;
}

/** The answer to deleting a request or an end-user. */
export interface Removal {
  requestId?: string;
  email?: string;
  deleted: boolean;
  removedRequests?: number;
  removedObjects: number;
}
export interface BulkRemoval {
  requested: number;
  deleted: number;
  removedObjects: number;
  conflicts: string[];
  notFound: string[];
}

/** Sends a DELETE. */
export const remove = <T = Removal>({ service, key }: Caller, path: string): Promise<Answer<T>> =>
  send<T>(service, 'DELETE', path, { headers: { authorization: `Bearer ${key}` } });

/** Deletes several requests in one call. */
export const bulkRemove = (caller: Caller, requestIds: unknown): Promise<Answer<BulkRemoval>> =>
  caller.post<BulkRemoval>('/v1/generations/bulk-delete', { requestIds });

/** The path of an end-user, their address encoded. */
export const endUserPath = (email: string): string => `/v1/end-users/${encodeURIComponent(email)}`;

/** An address used nowhere else; it contains `name`. */
export const uniqueEmail = (name = 'user'): string =>
  `${name}.${Math.random().toString(36).slice(2)}@example.com`;

/** The end-user with this address as the list shows them now, if any. */
export const endUserOf = async (caller: Caller, email: string): Promise<EndUser | undefined> => {
  const query = new URLSearchParams({ email, pageSize: '50' });
  const { body } = await caller.get<ListPage<EndUser>>(`/v1/end-users?${query}`);
  return body.items.find((item) => item.email === email);
};

/** A succeeded request for a small image. */
export const succeeded = async (caller: Caller, body: Record<string, unknown> = {}): Promise<AnyRecord> => {
  const { requestId } = await accepted(caller, { size: '512x512', ...body });
  return settled(caller, requestId);
};

/** A request that the provider refused. */
export const failed = async (caller: Caller, body: Record<string, unknown> = {}): Promise<AnyRecord> => {
  const { requestId } = await accepted(caller, { prompt: unique('[fail=content_policy]'), ...body });
  return settled(caller, requestId);
};

/** A request in `processing` whose provider takes `delaySeconds`. */
export const processing = async (
  caller: Caller,
  delaySeconds: number,
  body: Record<string, unknown> = {},
): Promise<AnyRecord> => {
  const prompt = unique(`[delay=${delaySeconds}][fail=content_policy]`);
  const { requestId } = await accepted(caller, { prompt, ...body });
  return eventually(
    async () => (await caller.get<AnyRecord>(`/v1/generations/${requestId}`)).body,
    ({ status }) => status === 'processing',
  );
};

/** A request in `processing` that ends by `endBusy`, however long a test takes. */
export const busy = (caller: Caller, body: Record<string, unknown> = {}): Promise<AnyRecord> =>
  processing(caller, 600, { model: 'xQI3Pro', ...body });

/** Fails a request that is busy. */
export const endBusy = (caller: Caller, requestId: string): Promise<AnyRecord> =>
  ops(caller.service, 'requests', 'fail', requestId);

/** A record without its URLs, which are signed afresh for each answer. */
export const withoutUrls = ({ images, ...record }: AnyRecord) => ({
  ...record,
  ...(images ? { images: images.map(({ url, ...image }) => ({ ...image, hasUrl: url !== undefined })) } : {}),
});

/** The status of an answer and, for a refusal, its code. */
export const outcome = (answer: Answer<unknown>): [number, string] | [number] =>
  answer.status < 400 ? [answer.status] : refusal(answer);
