import * as z from 'zod/mini';
import { type Check, CheckFailedError, ensure, left } from '../check.ts';
import { shown } from '../http.ts';
import { SMOKE_EMAIL } from '../plan.ts';
import { poll } from '../poll.ts';
import type { MadeRequest, Smoke } from '../smoke.ts';
import { expectRefusal } from './refusals.ts';

/** A kind of request: where it is created and read. */
export type Kind = 'image' | 'video';
const PATH_OF = { image: '/v1/generations', video: '/v1/videos' } as const;

const Item = z.object({ url: z.optional(z.string()), size: z.optional(z.string()) });
const Record = z.object({
  requestId: z.string(),
  status: z.string(),
  cost: z.optional(z.number()),
  error: z.optional(z.object({ code: z.string(), message: z.string() })),
  images: z.optional(z.array(Item)),
  videos: z.optional(z.array(Item)),
});
type Record = z.infer<typeof Record>;

const POLL_SECONDS = 2;
const ENDED = new Set(['succeeded', 'failed', 'expired']);

const accepted = (kind: Kind): Check => ({
  name: `${kind} accepted`,
  async run({ caller, made, options }) {
    const creation = left(left(made.creations, 'catalog')[kind], `model for the ${kind}`);
    left(made.xTokens, 'top-up');
    const webhook =
      kind === 'image' && options.webhookUrl !== undefined ? { webhookUrl: options.webhookUrl } : {};
    const body = { ...creation.body, ...webhook };
    const answer = await caller.call('POST', PATH_OF[kind], { key: left(made.key, 'key'), body });
    const record = Record.safeParse(answer.body);
    if (answer.status !== 202 || !record.success) {
      throw new CheckFailedError(`POST ${PATH_OF[kind]} answered ${shown(answer)}.`);
    }
    made[kind] = { requestId: record.data.requestId };
    return record.data.requestId;
  },
});

const done = (kind: Kind): Check => ({
  name: `${kind} made`,
  async run(smoke) {
    const request = left(smoke.made[kind], `${kind} that was accepted`);
    const creation = left(left(smoke.made.creations, 'catalog')[kind], `model for the ${kind}`);
    const record = await ended(smoke, kind, request);
    ensure(
      record.status === 'succeeded',
      `${record.requestId} ${record.status}: ${record.error?.code}, ${record.error?.message}`,
    );
    const price = creation.priceThousandths / 1000;
    ensure(record.cost === price, `${record.requestId} cost ${record.cost} xTokens instead of ${price}.`);
    const [item, ...others] = record.images ?? record.videos ?? [];
    ensure(
      others.length === 0 && item?.url !== undefined,
      `${record.requestId} has not exactly one ${kind} with a URL.`,
    );
    smoke.made[kind] = { ...request, ...pick(record, item) };
    return `${record.cost} xTokens`;
  },
});

const pick = ({ cost }: Record, item: z.infer<typeof Item> | undefined): Partial<MadeRequest> => ({
  ...(cost !== undefined && { cost }),
  ...(item?.url !== undefined && { url: item.url }),
  ...(item?.size !== undefined && { size: item.size }),
});

const ended = async (smoke: Smoke, kind: Kind, { requestId }: MadeRequest): Promise<Record> => {
  const { caller, made, options } = smoke;
  const path = `${PATH_OF[kind]}/${requestId}`;
  let status = 'unknown';
  const check = async (): Promise<Record | undefined> => {
    const answer = await caller.call('GET', path, { key: left(made.key, 'key') });
    const record = Record.safeParse(answer.body);
    if (answer.status !== 200 || !record.success)
      throw new CheckFailedError(`GET ${path} answered ${shown(answer)}.`);
    status = record.data.status;
    smoke.say(`${requestId} is ${status}`);
    return ENDED.has(status) ? record.data : undefined;
  };
  const record = await poll(
    smoke,
    { everySeconds: POLL_SECONDS, forSeconds: options.patienceSeconds },
    check,
  );
  if (!record)
    throw new CheckFailedError(`${requestId} is still ${status} after ${options.patienceSeconds} s.`);
  return record;
};

/** Two attempts, and time for the request's last steps before the first. The third comes after 5 min. */
const WEBHOOK_SECONDS = 60;

const webhook: Check = {
  name: 'webhook',
  async run(smoke) {
    const { operator, made, options } = smoke;
    left(options.webhookUrl, 'receiver of webhooks: give --webhook-url');
    const { requestId } = left(made.image, 'image that was accepted');
    let seen = 'No attempt was made';
    const delivered = await poll(
      smoke,
      { everySeconds: POLL_SECONDS, forSeconds: WEBHOOK_SECONDS },
      async () => {
        const attempts = await operator.webhookAttempts(requestId);
        const last = attempts.at(-1);
        if (last) seen = `The last of ${attempts.length} attempts ended with ${last.status ?? last.error}`;
        return attempts.find(({ status = 0 }) => status >= 200 && status < 300);
      },
    );
    if (!delivered) throw new CheckFailedError(`${seen} within ${WEBHOOK_SECONDS} s.`);
    return `attempt ${delivered.number} answered ${delivered.status} after ${delivered.milliseconds} ms`;
  },
};

/** Seconds in which an index shows a request to the removal of its end-user. */
const INDEX_SECONDS = 20;

const deletion: Check = {
  name: 'deletion',
  async run({ caller, made }) {
    const { requestId, url } = left(made.image, 'image that was accepted');
    const fileUrl = left(url, 'image with a file');
    const key = left(made.key, 'key');
    const path = `/v1/generations/${requestId}`;
    const answer = await caller.call('DELETE', path, { key });
    const { removedObjects } = z.parse(
      z.object({ removedObjects: z.optional(z.number()) }),
      answer.body ?? {},
    );
    ensure(answer.status === 200, `DELETE ${path} answered ${shown(answer)}.`);
    ensure(removedObjects === 1, `DELETE ${path} removed ${removedObjects} files instead of 1.`);
    expectRefusal(
      `GET ${path} of a deleted image`,
      await caller.call('GET', path, { key }),
      404,
      'not_found',
    );
    const { status } = await caller.fetchFile(fileUrl);
    ensure(status === 403 || status === 404, `The file of a deleted image answered ${status}.`);
    return 'record and file are gone';
  },
};

const endUserDeletion: Check = {
  name: 'end-user deletion',
  async run(smoke) {
    const { caller, made } = smoke;
    const { requestId } = left(made.video, 'video that was accepted');
    const key = left(made.key, 'key');
    const answer = await caller.call('DELETE', `/v1/end-users/${encodeURIComponent(SMOKE_EMAIL)}`, { key });
    ensure(answer.status === 200, `DELETE /v1/end-users/… answered ${shown(answer)}.`);
    const path = `/v1/videos/${requestId}`;
    const gone = await poll(smoke, { everySeconds: POLL_SECONDS, forSeconds: INDEX_SECONDS }, async () => {
      const read = await caller.call('GET', path, { key });
      return read.status === 404 ? read : undefined;
    });
    ensure(
      gone !== undefined,
      `GET ${path} still finds the video of a deleted end-user after ${INDEX_SECONDS} s.`,
    );
    return 'the video is gone with its end-user';
  },
};

/** Both requests through the whole service; created before either is waited for. */
export const REQUEST_CHECKS: readonly Check[] = [
  accepted('image'),
  accepted('video'),
  done('image'),
  done('video'),
  webhook,
];
export const DELETION_CHECKS: readonly Check[] = [deletion, endUserDeletion];
