import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ProviderAnswer } from '../../core/provider-calls/providers.ts';
import { queryProvider } from '../../core/waiting/query-provider.ts';
import { atSeconds } from '../unit/builders/clocks.ts';
import { anImageRequest, EMAIL, REQUEST_ID } from '../unit/builders/entities.ts';
import { runGeneration } from './generation.ts';
import type { Behaviour, Execution } from './harness.ts';
import {
  activeRequests,
  balanceThousandths,
  pausedUntil,
  putRequest,
  realFunctions,
  statuses,
  storedRequest,
} from './stored-request.ts';
import { stubProvider } from './stub-provider.ts';

const CONTENT = {
  prompt: 'a lighthouse nobody else may read of',
  references: ['https://caller.example/reference.png'],
  webhookUrl: 'https://caller.example/hook',
};
const FILE_URL = 'https://files.provider.example/output.png?signature=secret';
const finished: ProviderAnswer = { kind: 'done', outputs: [{ url: FILE_URL }] };
const accepted: ProviderAnswer = { kind: 'accepted', taskId: 'task-1' };
const waiting: ProviderAnswer = { kind: 'waiting' };
const busy: ProviderAnswer = { kind: 'busy', reason: 'modelstudio answered 429.', retryAfterSeconds: 1 };

const expectNoContent = ({ history, invocations }: Execution): void => {
  const everything = history + JSON.stringify(invocations);
  for (const content of [CONTENT.prompt, EMAIL, 'https://', 'http://']) {
    expect(everything).not.toContain(content);
  }
};

beforeEach(() => putRequest(anImageRequest(CONTENT)));

describe('with the real functions', () => {
  test('an image that is produced at once is paid for and delivered', async () => {
    const execution = await runGeneration(realFunctions(stubProvider('synchronous', { submit: [finished] })));

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.transitions).toBe(4);
    expect(storedRequest()).toMatchObject({
      status: 'succeeded',
      costThousandths: 4_000,
      refundThousandths: 0,
      expiresAt: atSeconds(82_800).toISOString(),
    });
    expect(balanceThousandths()).toBe(100_000);
    expect(activeRequests()).toBe(0);
    expect(pausedUntil()).toBeUndefined();
    expectNoContent(execution);
  });

  test('the indexes hold a request under its current status at every step', async () => {
    const seen: unknown[] = [statuses()];
    const provider = stubProvider('asynchronous', { submit: [accepted], query: [finished] });
    const script = realFunctions(provider);
    const check: Behaviour = async () => {
      seen.push(statuses());
      return queryProvider(REQUEST_ID, provider);
    };

    await runGeneration({ ...script, 'query-provider': check });

    expect([...seen, statuses()]).toEqual([
      { stored: 'queued', listed: 'unfinished' },
      { stored: 'processing', listed: 'unfinished' },
      { stored: 'succeeded', listed: 'succeeded' },
    ]);
  });

  test('a task that never finishes fails at the deadline, 10 min after its first call, is refunded, and pauses its end-user with that model', async () => {
    const provider = stubProvider('asynchronous', { submit: [accepted], query: [waiting] });

    const execution = await runGeneration(realFunctions(provider));

    expect(execution.failure).toEqual({
      Error: 'provider_timeout',
      Cause: 'The upstream provider did not finish in time.',
    });
    expect(provider.queries).toEqual([601]);
    expect(storedRequest()).toMatchObject({
      status: 'failed',
      error: { code: 'provider_timeout', message: 'The upstream provider did not finish in time.' },
      finishedAt: atSeconds(601).toISOString(),
      refundThousandths: 4_000,
    });
    expect(balanceThousandths()).toBe(104_000);
    expect(pausedUntil()).toBe(atSeconds(601 + 180).toISOString());
    expect(activeRequests()).toBe(0);
    expect(statuses()).toEqual({ stored: 'failed', listed: 'failed' });
    expectNoContent(execution);
  });

  test('a provider that stays busy fails the request at the deadline: it is refunded, and nobody is paused', async () => {
    const provider = stubProvider('synchronous', { submit: [busy] });

    const execution = await runGeneration(realFunctions(provider));

    expect(execution.seconds).toBe(600);
    expect(storedRequest()).toMatchObject({
      status: 'failed',
      error: { code: 'provider_error', message: 'The upstream provider did not take the request.' },
    });
    expect(balanceThousandths()).toBe(104_000);
    expect(pausedUntil()).toBeUndefined();
    expectNoContent(execution);
  });
});
