import '../../builders/environment.ts';
import { clearCaches } from '@aws-lambda-powertools/parameters';
import { startSandbox } from '@generation-service/sandbox';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { dispatchRequest } from '../../../../core/dispatch/dispatch-request.ts';
import { cancelTasks } from '../../../../core/ending/close-request.ts';
import { failRequest } from '../../../../core/ending/fail-request.ts';
import { settleRequest } from '../../../../core/ending/settle-request.ts';
import type { ProviderRouteOf } from '../../../../core/provider-calls/providers.ts';
import { findRequest } from '../../../../core/requests/requests.ts';
import { storeOutputs } from '../../../../core/storing/store-outputs.ts';
import { accountKey, endUserKey, providerAttemptKey, requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { systemClock } from '../../../../core/time.ts';
import { queryProvider } from '../../../../core/waiting/query-provider.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  aVideoRequest,
  EMAIL,
  putRequest,
  VIDEO_ID,
} from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { MemoryBucket } from '../../fakes/memory-bucket.ts';
import { MemoryExecutions } from '../../fakes/memory-executions.ts';
import { MemorySecrets } from '../../fakes/memory-secrets.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';
import { describeConformance } from '../conformance/kit.ts';
import { Relay } from './relay.ts';
import { createRelay } from './relay-upstream.ts';
import { RELAY_WIRE } from './relay-wire.ts';

describeConformance(RELAY_WIRE);

describe('a third provider, added to the sandbox by an adapter and an upstream alone,', () => {
  const memory = new MemoryTable(table);
  const executions = new MemoryExecutions();
  const bucket = new MemoryBucket();
  const secrets = new MemorySecrets();
  // The upstream's clock stands still: a task is done at once, or waits for good.
  let routes: ProviderRouteOf;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const sandbox = await startSandbox({
      apiKey: 'relay-key',
      upstreams: [(parts) => createRelay({ ...parts, now: () => 0 })],
    });
    close = () => sandbox.close();
    const provider = new Relay({ baseUrl: `${sandbox.url}/relay`, apiKey: 'relay-key' });
    routes = async () => ({ provider, upstreamModel: 'relay-video' });
  });
  afterAll(() => close());
  beforeEach(() => {
    clearCaches();
    for (const fake of [memory, executions, bucket, secrets]) fake.reset();
    secrets.set('arn:callback-secret', 'secret');
    memory.put(accountKey(ACCOUNT_ID), anAccount());
    memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser());
  });

  const given = (prompt: string) => {
    const createdAt = new Date().toISOString();
    putRequest(memory, aVideoRequest({ prompt, createdAt, status: 'queued', durationSec: 2 }));
  };
  const record = () => memory.get(requestKey(VIDEO_ID));
  const attempt = () => memory.get(providerAttemptKey(VIDEO_ID, 0, 0));

  test('makes a video that is stored and paid', () =>
    withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, async () => {
      given('a fox [delay=0]');

      expect(await dispatchRequest(VIDEO_ID, routes)).toMatchObject({ next: 'wait' });
      expect(attempt()).toMatchObject({
        ...{ provider: 'relay', upstreamModel: 'relay-video' },
        baseUrl: expect.stringMatching(/\/relay$/),
        outcome: { kind: 'accepted' },
      });
      expect(await queryProvider(VIDEO_ID, routes)).toEqual({ next: 'store' });
      await storeOutputs(VIDEO_ID);
      await settleRequest(VIDEO_ID);

      expect(record()).toMatchObject({
        status: 'succeeded',
        outputs: [{ contentType: 'video/mp4', durationSec: 2 }],
      });
      expect(bucket.objects.size).toBe(1);
    }));

  test('tells a content decision, which is refunded', async () => {
    given('a fox [delay=0] [fail=content_policy]');

    await dispatchRequest(VIDEO_ID, routes);

    expect(await queryProvider(VIDEO_ID, routes)).toMatchObject({
      next: 'fail',
      error: { code: 'content_policy' },
    });
  });

  test('cancels what a failed request left behind', async () => {
    given('a fox [delay=600]');
    await dispatchRequest(VIDEO_ID, routes);
    await failRequest(VIDEO_ID, { code: 'provider_timeout', message: 'Late.' });
    const failed = await findRequest(VIDEO_ID);

    expect(failed && (await cancelTasks(failed, routes, systemClock))).toBe(true);
    expect(attempt()).toMatchObject({ cancellation: { at: expect.any(String) } });
    expect(attempt()?.cancellation).not.toHaveProperty('reason');
  });
});
