import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InvokeFunction } from '@generation-service/local-aws';
import { startAwsEndpoint } from '@generation-service/local-aws/endpoint';
import { logger } from '../../core/observability.ts';
import { deliverWebhook } from '../../core/webhooks/deliver-webhook.ts';
import { StackContext } from '../../lib/context.ts';
import { startLocalRun } from '../../local/run.ts';
import { connect } from '../../ops/target.ts';

/** A local run whose webhook senders run in this process, without a limit of concurrency. */
export interface WebhookService {
  /** The maximum number of concurrent senders since the last call. */
  takeMostAtOnce(): number;
  close(): Promise<void>;
}

/**
 * Starts the service in this process and connects `core` to it. Lambda runs a sender for every due delivery, up to the
 * account's limit (1,000 by default, https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). The local
 * run's dozen threads per function would be a limit that no deployment has, so here the state machine's task calls
 * `deliverWebhook` directly.
 */
export const startWebhookService = async (): Promise<WebhookService> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'generation-service-bench-'));
  let atOnce = 0;
  let mostAtOnce = 0;
  const send = async (payload: unknown) => {
    const { requestId, delivery } = payload as { requestId: string; delivery: string };
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    try {
      return { payload: await deliverWebhook(requestId, delivery) };
    } finally {
      atOnce -= 1;
    }
  };
  const invokeHere =
    (invoke: InvokeFunction): InvokeFunction =>
    (functionArn, payload) =>
      functionArn.includes('DeliverWebhook') ? send(payload) : invoke(functionArn, payload);
  const run = await startLocalRun(
    { port: 0, dataDir },
    {
      startAwsEndpoint: async (options) => {
        const endpoint = await startAwsEndpoint(options);
        return {
          ...endpoint,
          startStateMachines: (specs, invoke, publish) =>
            endpoint.startStateMachines(specs, invokeHere(invoke), publish),
        };
      },
    },
  );
  await connect({ dataDir });
  Object.assign(process.env, {
    ALLOW_PRIVATE_TARGETS: 'true',
    USER_AGENT: 'generation-service/bench',
    WEBHOOK_RETRY_SECONDS: StackContext.shape.webhookRetrySeconds.parse(undefined),
    // Failed requests have no files, so any secret will do as the signing key.
    FILE_DELIVERY_BASE_URL: run.baseUrl,
    FILE_DELIVERY_KEY_PAIR_ID: 'none',
    FILE_DELIVERY_KEY_SECRET_ARN: process.env.MODELARK_SECRET_ARN,
  });
  logger.setLogLevel('SILENT');
  return {
    takeMostAtOnce: () => {
      const most = mostAtOnce;
      mostAtOnce = atOnce;
      return most;
    },
    close: async () => {
      await run.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};
