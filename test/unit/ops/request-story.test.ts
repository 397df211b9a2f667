import '../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import type { AttemptOutcome } from '../../../core/provider-calls/provider-attempts.ts';
import type { RequestReport } from '../../../ops/request-report.ts';
import { tellStory } from '../../../ops/request-story.ts';
import { atSeconds, NOW } from '../builders/clocks.ts';
import { anAttempt, anImageRequest, aVideoRequest } from '../builders/entities.ts';
import { aReport } from './a-report.ts';

const at = (second: number): string => atSeconds(second).toISOString();

const linesOf = (changes: Partial<RequestReport>, now = atSeconds(60)): string[] =>
  tellStory(aReport(changes), now).map(({ what, detail }) => `${what}: ${detail}`);

describe('the story of a request', () => {
  test('begins with what was requested', () => {
    const video = aVideoRequest({ model: 'xW2.7S', durationSec: 5, resolution: '720p' });

    expect(linesOf({})[0]).toBe('accepted: xQI3Pro, 1 of 1K');
    expect(linesOf({ request: video })[0]).toBe('accepted: xW2.7S, 5 s of 720p');
  });

  test.each<[AttemptOutcome | undefined, string]>([
    [
      { kind: 'done', outputs: [{ url: 'u' }, { failure: { code: 'content_policy', message: 'No.' } }] },
      'done, 1 of 2 produced',
    ],
    [
      { kind: 'failed', failure: { code: 'provider_error', message: 'Broke.' } },
      'failed, provider_error: Broke.',
    ],
    [{ kind: 'lost', failure: { code: 'internal_error', message: 'Gone.' } }, 'lost, internal_error: Gone.'],
    [{ kind: 'busy', reason: '429' }, 'busy, 429'],
    [undefined, 'not known'],
  ])('says how a provider call ended: %j', (outcome, detail) => {
    const attempts = [anAttempt({ call: 1, attempt: 2, finishedAt: at(3), ...(outcome ? { outcome } : {}) })];

    expect(linesOf({ attempts })).toContain(`provider answered: call 1, try 2: ${detail}`);
  });

  test('leaves out what has not happened', () => {
    const request = anImageRequest({
      status: 'succeeded',
      costThousandths: 4_000,
      finishedAt: at(1),
      expiresAt: at(100),
    });

    expect(linesOf({ request, attempts: [anAttempt({ taskId: 'task-1' })] }, atSeconds(99))).toEqual([
      'accepted: xQI3Pro, 1 of 1K',
      'provider called: call 0, try 0, task task-1',
      'succeeded: cost 4',
    ]);
  });

  test.each([
    [{ at: at(3) }, 'task cancelled: call 0, try 0'],
    [
      { at: at(3), reason: 'UnsupportedOperation' },
      'task not cancelled: call 0, try 0: UnsupportedOperation',
    ],
  ])('says what came of cancelling a task after the end: %j', (cancellation, line) => {
    const request = anImageRequest({
      ...{ status: 'failed', finishedAt: at(2) },
      error: { code: 'provider_timeout', message: 'Late.' },
    });

    expect(linesOf({ request, attempts: [anAttempt({ taskId: 'task-1', cancellation })] }).slice(-2)).toEqual(
      ['failed: provider_timeout: Late.', line],
    );
  });

  test('continues to the expiry and the removal of the files', () => {
    const request = anImageRequest({
      status: 'succeeded',
      finishedAt: at(1),
      expiresAt: at(100),
      expiredAt: at(101),
    });

    expect(linesOf({ request }, atSeconds(101)).slice(-2)).toEqual(['expired: ', 'files removed: ']);
  });

  test('says that files of an expired request could not be removed yet', () => {
    const request = anImageRequest({
      ...{ status: 'succeeded', finishedAt: at(1), expiresAt: at(100) },
      ...{ removalFailures: 3, GSI1SK: at(500) },
    });

    expect(linesOf({ request }, atSeconds(300)).at(-1)).toBe(
      `expired: its files could not be removed 3 times; next attempt from ${at(500)}`,
    );
  });

  test('says when it waited for the provider', () => {
    const wait = { requestId: 'img', waitingSince: at(1), queriedAt: at(3), calledBackAt: at(2) };

    expect(linesOf({ wait }).slice(1)).toEqual([
      'waits for provider: ',
      'provider called back: ',
      'provider asked last: ',
    ]);
  });

  test('shows a webhook attempt with its status or its error', () => {
    const attempt = { requestId: 'img', delivery: 'img', startedAt: NOW.toISOString(), milliseconds: 9 };
    const webhooks = [
      { ...attempt, number: 1, error: 'ECONNREFUSED' },
      { ...attempt, number: 2, status: 200 },
    ];

    expect(linesOf({ webhooks }).slice(1)).toEqual([
      'webhook tried: img, try 1: ECONNREFUSED, 9 ms',
      'webhook tried: img, try 2: 200, 9 ms',
    ]);
  });
});
