import { CheckFailedError, ensure } from '../smoke/check.ts';
import { shown } from '../smoke/http.ts';
import { poll } from '../smoke/poll.ts';
import { call, create, delivered, hasEnded, isFound, POLL_SECONDS, type Stage, until } from './stage.ts';

/** Something that a deployment finds under way. */
export interface Work {
  name: string;
  /** Goes on while the deployment runs. */
  during?(): Promise<void>;
  /** Resolves with the result in words when it ended right. Throws `CheckFailedError`. `deployedAt`: when the deployment was done. */
  ended(deployedAt: string): Promise<string>;
}

/** Calls of each route at once, by context: two videos fill a route. */
export const MAX_RUNNING = 2;

/** A video that the provider made long before anybody asks. */
const READY_SECONDS = 1;

/** A body of a creation, with the model's defaults. */
const bodyOf = (model: string, prompt: string, endUserEmail: string) => ({ model, prompt, endUserEmail });

const isProcessing = ({ status }: { status: string }): boolean => status === 'processing';

/** An image whose provider holds the connection until it is made, with a webhook. */
const synchronousImage = async (stage: Stage, email: string): Promise<Work> => {
  const webhookUrl = `${stage.sandboxUrl}/sandbox/webhooks`;
  const prompt = `a slow image [delay=${stage.workSeconds}]`;
  const requestId = await create(stage, 'image', {
    ...bodyOf(stage.models.image, prompt, email),
    webhookUrl,
  });
  await until(stage, requestId, 'processing', isProcessing);
  return {
    name: 'synchronous image and its webhook',
    async ended() {
      await delivered(stage, 'image', requestId);
      await until(stage, requestId, 'delivered to its receiver', ({ webhookAttempts }) =>
        webhookAttempts.some(({ status = 0 }) => status >= 200 && status < 300),
      );
      return requestId;
    },
  };
};

/** Videos that are polled, as many as the route takes, and two that wait for its capacity. */
const fullRoute = async (stage: Stage, email: string): Promise<Work[]> => {
  const slow = bodyOf(stage.models.polledVideo, `a polled video [delay=${stage.workSeconds}]`, email);
  const running = await Promise.all(Array.from({ length: MAX_RUNNING }, () => create(stage, 'video', slow)));
  for (const requestId of running) await until(stage, requestId, 'processing', isProcessing);
  const quick = bodyOf(stage.models.polledVideo, 'a video that waits', email);
  const waiting = [await create(stage, 'video', quick), await create(stage, 'video', quick)];
  const deliverAll = async (requestIds: readonly string[]): Promise<string> => {
    for (const requestId of requestIds) await delivered(stage, 'video', requestId);
    return requestIds.join(', ');
  };
  for (const requestId of waiting)
    await until(stage, requestId, 'queued', ({ status }) => status === 'queued');
  return [
    { name: 'polled videos', ended: () => deliverAll(running) },
    { name: 'videos waiting for capacity', ended: () => deliverAll(waiting) },
  ];
};

/** A video of a provider that calls back, and is not queried before. The callback comes after the deployment. */
const videoWithCallback = async (stage: Stage, email: string): Promise<Work> => {
  const prompt = `a video with a callback [delay=${READY_SECONDS}]`;
  const requestId = await create(stage, 'video', bodyOf(stage.models.calledBackVideo, prompt, email));
  await until(stage, requestId, 'processing', isProcessing);
  return {
    name: 'video with a callback',
    async ended() {
      const before = await stage.stored(requestId);
      ensure(
        before?.status === 'processing',
        `${requestId} did not wait for its callback: ${before?.status}`,
      );
      const answer = await call(stage, 'POST', await stage.callbackPath(requestId));
      ensure(answer.status === 200, `The callback of ${requestId} was answered ${shown(answer)}.`);
      return delivered(stage, 'video', requestId);
    },
  };
};

/** A finished image whose webhook is refused, so that its delivery goes on. */
const pendingWebhook = async (stage: Stage, email: string): Promise<Work> => {
  const webhookUrl = `${stage.sandboxUrl}/refused`;
  const requestId = await create(stage, 'image', {
    ...bodyOf(stage.models.image, 'an image', email),
    webhookUrl,
  });
  await until(stage, requestId, 'ended with a refused webhook', (state) =>
    state.webhookAttempts.some(({ status = 0 }) => status >= 400),
  );
  return {
    name: 'pending webhook',
    async ended(deployedAt) {
      await until(stage, requestId, 'sent to its receiver again', ({ webhookAttempts }) =>
        webhookAttempts.some(({ startedAt }) => startedAt > deployedAt),
      );
      return delivered(stage, 'image', requestId);
    },
  };
};

/** An ended request of an end-user; its id. */
const imageToDelete = async (stage: Stage, email: string): Promise<string> => {
  const requestId = await create(stage, 'image', bodyOf(stage.models.image, 'an image to delete', email));
  await until(stage, requestId, 'ended', hasEnded);
  return requestId;
};

/** An end-user whose deletion was begun by a call that died. The reconciler finishes it. */
const begunDeletion = async (stage: Stage, round: string): Promise<Work> => {
  const email = `begun-${round}@example.com`;
  const requestId = await imageToDelete(stage, email);
  await stage.beginDeletion(email);
  return {
    name: 'deletion whose call died',
    async ended() {
      const isGone = await poll(
        stage,
        { everySeconds: POLL_SECONDS, forSeconds: stage.patienceSeconds },
        async () => ((await isFound(stage, 'image', requestId)) ? undefined : true),
      );
      ensure(isGone === true, `${requestId} is still there.`);
      return requestId;
    },
  };
};

/** End-users, each with an image, of whom one after another is deleted while the deployment runs. */
const DELETED = 4;
const deletions = async (stage: Stage, round: string): Promise<Work> => {
  const emails = Array.from({ length: DELETED }, (_, index) => `deleted-${index}-${round}@example.com`);
  const requestIds: string[] = [];
  for (const email of emails) requestIds.push(await imageToDelete(stage, email));
  let failure: CheckFailedError | undefined;
  return {
    name: 'deletions during the deployment',
    async during() {
      for (const email of emails) {
        const answer = await call(stage, 'DELETE', `/v1/end-users/${encodeURIComponent(email)}`);
        if (answer.status !== 200)
          failure ??= new CheckFailedError(`DELETE of ${email} answered ${shown(answer)}.`);
        // The last ones come late in the deployment.
        await stage.pause((stage.workSeconds * 1_000) / (2 * DELETED));
      }
    },
    async ended() {
      if (failure) throw failure;
      for (const requestId of requestIds) {
        ensure(!(await isFound(stage, 'image', requestId)), `${requestId} is still there.`);
      }
      return `${emails.length} end-users with their requests`;
    },
  };
};

/** Starts work of each kind. Resolves when all of it is where a deployment should find it: the slow work last. */
export const startWork = async (stage: Stage, round: string): Promise<Work[]> => {
  const email = `caller-${round}@example.com`;
  const deleted = await deletions(stage, round);
  const webhook = await pendingWebhook(stage, email);
  const callback = await videoWithCallback(stage, email);
  const route = await fullRoute(stage, email);
  const slow = await synchronousImage(stage, email);
  return [slow, ...route, callback, webhook, deleted, await begunDeletion(stage, round)];
};

/** A quick image by the release that is deployed now. */
export const newImage = async (stage: Stage, round: string): Promise<string> =>
  delivered(
    stage,
    'image',
    await create(stage, 'image', bodyOf(stage.models.image, 'a new image', `new-${round}@example.com`)),
  );
