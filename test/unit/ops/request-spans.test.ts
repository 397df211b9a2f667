import { describe, expect, test } from '@jest/globals';
import type { AttemptOutcome } from '../../../core/provider-calls/provider-attempts.ts';
import type { RequestReport } from '../../../ops/request-report.ts';
import { tellSpans } from '../../../ops/request-spans.ts';
import { atSeconds, NOW } from '../builders/clocks.ts';
import { anAttempt, anImageRequest, aStoredOutput, aVideoRequest } from '../builders/entities.ts';
import { anExecution, aReport } from './a-report.ts';

const at = (second: number): string => atSeconds(second).toISOString();
const second = (instant: string | null) =>
  instant === null ? null : (Date.parse(instant) - NOW.getTime()) / 1000;

/** Each span's kind, begin and end in seconds, label, and how it ended. */
const told = (changes: Partial<RequestReport>, now = 60): (string | number | null)[][] =>
  tellSpans(aReport(changes), atSeconds(now)).map(({ kind, from, until, label, outcome, detail }) => [
    ...[kind, second(from), second(until), label],
    ...[outcome, detail].flatMap((part) => part ?? []),
  ]);
const DONE: AttemptOutcome & { kind: 'done' } = {
  kind: 'done',
  outputs: [{ url: 'https://upstream.example.com/1' }],
};
const PRODUCED = 'succeeded';
/** What a request for one image asks for. */
const ONE = 'xQI3Pro, 1 of 1K, debit 4';

describe('the spans of a request', () => {
  test('a call of a model with several routes says where it went, and why not elsewhere', () => {
    const one = { provider: 'modelark', upstreamModel: 'one' };
    const two = { provider: 'fal', upstreamModel: 'two', assignment: 2 };
    const busy = { kind: 'busy', reason: 'not reached', obstacle: 'unreached' } as const;
    const passedOver = [{ route: 'modelark/one', why: 'it was not reached' }];
    const attempts = [
      anAttempt({ ...one, startedAt: at(1), finishedAt: at(2), outcome: busy }),
      anAttempt({ ...two, passedOver, attempt: 3, startedAt: at(5) }),
    ];

    expect(told({ attempts }).filter(([kind]) => kind !== 'queued' && kind !== 'deadline')).toEqual([
      ['provider-call', 1, 2, 'provider call', 'busy', 'not reached'],
      ['capacity-wait', 2, 5, 'waiting for capacity', 'not reached'],
      [
        ...['provider-call', 5, null, 'provider call, attempt 4'],
        'to fal/two, not modelark/one: it was not reached',
      ],
    ]);
  });

  test('a request waits for its execution, then for its first provider call', () => {
    expect(told({})).toEqual([['queued', 0, null, 'waiting for an execution', ONE]]);
    expect(told({ executions: [anExecution({ 'Dispatch request': 1 })] })).toEqual([
      ['queued', 0, null, 'waiting for the first provider call', ONE],
    ]);
    expect(told({ attempts: [anAttempt({ startedAt: at(2) })] })[0]).toEqual(['queued', 0, 2, 'queued', ONE]);
  });

  test('a request that failed before any call was queued until then', () => {
    const error = { code: 'internal_error', message: 'No.' } as const;
    const request = anImageRequest({ status: 'failed', finishedAt: at(9), error });

    expect(told({ request })).toEqual([
      ['queued', 0, 9, 'queued', ONE],
      ['settling', 9, 9, 'failing and refunding', 'failed', 'internal_error: No.'],
    ]);
  });

  test('an image goes from the queue through one call, the files and the settlement to its expiry', () => {
    const request = anImageRequest({
      ...{ status: 'succeeded', images: 2, finishedAt: at(9), expiresAt: at(900) },
      ...{ outputs: [aStoredOutput(0), { index: 1 }], costThousandths: 4_000, refundThousandths: 4_000 },
    });
    const { objectKey = '' } = aStoredOutput(0);
    const outputs = [...DONE.outputs, { failure: { code: 'content_policy', message: 'No.' } as const }];

    expect(
      told({
        request,
        executions: [anExecution({ 'Dispatch request': 1, 'Store outputs': 4, 'Settle request': 7 })],
        attempts: [anAttempt({ startedAt: at(2), finishedAt: at(4), outcome: { kind: 'done', outputs } })],
        files: [{ objectKey, sizeBytes: 77, storedAt: at(6) }],
      }),
    ).toEqual([
      ['queued', 0, 2, 'queued', 'xQI3Pro, 2 of 1K, debit 8'],
      ['provider-call', 2, 4, 'provider call', PRODUCED, '1 of 2 produced, content_policy'],
      ['storing', 4, 6, 'storing output 1 of 2', 'succeeded', `${objectKey}, 77 bytes`],
      ['storing', 4, 7, 'storing output 2 of 2', 'failed', 'no file was stored'],
      ['settling', 7, 9, 'settling', 'succeeded', 'cost 4, 4 refunded'],
      ['available', 9, 900, 'files available'],
    ]);
  });

  test('a busy provider is asked again: waiting for capacity, then attempt 2', () => {
    const busy = { kind: 'busy', reason: 'HTTP 429', retryAfterSeconds: 20 } as const;
    const first = anAttempt({ startedAt: at(1), finishedAt: at(2), outcome: busy });
    const second = anAttempt({ attempt: 1, startedAt: at(22), outcome: undefined });

    expect(told({ attempts: [first] }, 10)).toEqual([
      ['queued', 0, 1, 'queued', ONE],
      ['provider-call', 1, 2, 'provider call', 'busy', 'HTTP 429'],
      ['deadline', 1, 601, 'until its deadline'],
      ['capacity-wait', 2, 22, 'waiting for capacity', 'HTTP 429'],
    ]);
    expect(
      told({ attempts: [first] }, 30)
        .at(-1)
        ?.slice(1, 3),
    ).toEqual([2, null]);
    expect(told({ attempts: [first, second] }, 30).slice(-2)).toEqual([
      ['capacity-wait', 2, 22, 'waiting for capacity', 'HTTP 429'],
      ['provider-call', 22, null, 'provider call, attempt 2'],
    ]);
  });

  test('a request that waits for its turn at the provider shows each wait in the queue', () => {
    const states = (entered: [string, number][]) =>
      entered.map(([state, seconds]) => ({ state, enteredAt: at(seconds) }));
    const waiting = (entered: [string, number][]) =>
      told({
        executions: [{ ...anExecution({}), states: states(entered) }],
      }).filter(([kind]) => kind === 'capacity-wait');

    expect(
      waiting([
        ['Dispatch request', 1],
        ['Wait for capacity', 2],
      ]),
    ).toEqual([['capacity-wait', 2, null, 'waiting in the queue']]);
    expect(
      waiting([
        ['Wait for capacity', 2],
        ['Dispatch request', 9],
        ['Wait for capacity', 12],
        ['Dispatch request', 20],
      ]),
    ).toEqual([
      ['capacity-wait', 2, 9, 'waiting in the queue'],
      ['capacity-wait', 12, 20, 'waiting in the queue'],
    ]);
  });

  test('of several calls each is named', () => {
    const attempts = [anAttempt(), anAttempt({ call: 1, attempt: 1 })];

    expect(told({ attempts }).map(([, , , label]) => label)).toEqual(
      expect.arrayContaining(['provider call 1', 'provider call 2, attempt 2']),
    );
  });

  test('a video waits for the callback until its deadline', () => {
    const accepted = { kind: 'accepted', taskId: 'task-1' } as const;
    const attempts = [
      anAttempt({ provider: 'modelark', startedAt: at(1), taskId: 'task-1', outcome: accepted }),
    ];
    const wait = { requestId: 'vid', waitingSince: at(2), queriedAt: at(9), calledBackAt: at(8) };

    expect(told({ request: aVideoRequest({ status: 'processing' }), attempts, wait }).slice(1)).toEqual([
      ['provider-call', 1, null, 'provider call', 'accepted', 'task task-1'],
      ['deadline', 1, 3601, 'until its deadline'],
      ['provider-wait', 2, null, 'waiting for the callback', `called back ${at(8)}, queried last ${at(9)}`],
    ]);
  });

  test('the wait for a provider that is queried ends with its last task', () => {
    const attempts = [
      anAttempt({
        ...{ provider: 'modelstudio', taskId: 'task-1', outcome: DONE },
        ...{ startedAt: at(1), finishedAt: at(30) },
      }),
    ];
    const executions = [anExecution({ 'Wait for provider': 3, 'Query provider': 29 })];

    expect(told({ attempts, executions }).at(-1)).toEqual([
      'provider-wait',
      ...[3, 30, 'waiting, provider polled'],
    ]);
  });

  test('a video says how long it is to be, and at what resolution', () => {
    const request = aVideoRequest({ model: 'xW2.7S', durationSec: 5, resolution: '720p' });

    expect(told({ request })[0]?.at(-1)).toMatch(/^xW2\.7S, 5 s of 720p, debit \d+$/);
  });

  test.each<[AttemptOutcome, string, string]>([
    [
      { kind: 'failed', failure: { code: 'provider_error', message: 'Broke.' } },
      'failed',
      'provider_error: Broke.',
    ],
    [
      { kind: 'lost', failure: { code: 'internal_error', message: 'Gone.' } },
      'lost',
      'internal_error: Gone.',
    ],
    [{ kind: 'busy', reason: 'HTTP 429' }, 'busy', 'HTTP 429'],
  ])('a call says how it ended: %j', (outcome, ended, detail) => {
    const attempts = [anAttempt({ startedAt: at(1), finishedAt: at(3), outcome })];

    expect(told({ attempts })[1]).toEqual(['provider-call', 1, 3, 'provider call', ended, detail]);
  });

  test.each([
    [{ at: at(3) }, `cancelled ${at(3)}`],
    [{ at: at(3), reason: 'UnsupportedOperation' }, `not cancelled ${at(3)}: UnsupportedOperation`],
  ])('a task that was cancelled after the end says what came of it: %j', (cancellation, said) => {
    const request = anImageRequest({ status: 'failed', finishedAt: at(2) });
    const attempts = [anAttempt({ startedAt: at(1), taskId: 'task-1', cancellation })];

    expect(told({ request, attempts })[1]?.at(-1)).toBe(`task task-1, ${said}`);
  });

  test('a call without an outcome is unknown once its request has ended', () => {
    const request = anImageRequest({ status: 'failed', finishedAt: at(50) });

    expect(told({ request, attempts: [anAttempt({ startedAt: at(1) })] })[1]).toEqual([
      ...['provider-call', 1, 50, 'provider call', 'unknown'],
    ]);
  });

  test('storing goes on for each produced output, and keeps what is stored so far', () => {
    const attempts = [anAttempt({ startedAt: at(1), finishedAt: at(3), outcome: DONE })];
    const executions = [anExecution({ 'Dispatch request': 0, 'Store outputs': 4 })];
    const request = anImageRequest({ status: 'processing', storedSoFar: [aStoredOutput(0)] });

    expect(told({ attempts, executions }).at(-1)).toEqual(['storing', 4, null, 'storing the output']);
    expect(told({ attempts, executions, request }).at(-1)?.slice(0, 5)).toEqual([
      ...['storing', 4, null, 'storing the output', 'succeeded'],
    ]);
  });

  test('settling goes on until the status is written', () => {
    const executions = [anExecution({ 'Settle request': 7 })];

    expect(told({ executions }).at(-1)).toEqual(['settling', 7, null, 'settling']);
  });

  test('files are available until their expiry, then removed', () => {
    const ended = { status: 'succeeded', finishedAt: at(1), expiresAt: at(100) } as const;
    const spansAt = (now: number, changes = {}) =>
      told({ request: anImageRequest({ ...ended, ...changes }) }, now).filter(([kind]) =>
        ['available', 'removal'].includes(String(kind)),
      );
    const available = ['available', 1, 100, 'files available'];

    expect(spansAt(99)).toEqual([available]);
    expect(spansAt(101)).toEqual([available, ['removal', 100, null, 'removing files']]);
    expect(spansAt(101, { removalFailures: 3, GSI1SK: at(500) })[1]?.at(-1)).toBe(
      `failed 3 times, next attempt from ${at(500)}`,
    );
    expect(spansAt(103, { expiredAt: at(102) })[1]).toEqual([
      ...['removal', 100, 102, 'files removed', 'succeeded'],
    ]);
  });
});
