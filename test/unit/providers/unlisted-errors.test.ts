import { describe, expect, test } from '@jest/globals';
import { type Case, meaningOf, read, type Sent } from './read-answers.ts';

describe('an answer of a provider', () => {
  const ark = (body: unknown, status = 200): Sent[] => [{ status, body }];
  const arkTask = (rest: object): Sent[] => ark({ id: 'c', ...rest });
  const studioTask = (output: object): Sent[] =>
    ark({ request_id: 'r', output: { task_id: 't', ...output } });
  const result = (status: number, body: unknown, headers = {}): Sent[] => [
    { status: 200, body: { status: 'COMPLETED' } },
    { status, body, headers },
  ];
  const CONTENT = { kind: 'failed', code: 'content_policy' };
  const OWN = { kind: 'failed', code: 'provider_error', blamesInput: false };
  const INPUT = { kind: 'failed', code: 'provider_error', blamesInput: true };
  const event = (data: object) => `id:1\nevent:error\n:HTTP_STATUS/400\ndata:${JSON.stringify(data)}\n\n`;

  test.each<[string, Case]>([
    // Gateways.
    [
      'a decision that a gateway wraps',
      {
        ...{ provider: 'modelark', at: 'create', want: { ...CONTENT, taken: 'no' } },
        answers: ark(
          { error: { message: '{"error":{"code":"InputTextRiskDetection"}}', type: 'upstream' } },
          451,
        ),
      },
    ],
    [
      'a decision in an event',
      {
        ...{ provider: 'modelstudio', at: 'create', want: { kind: 'busy', obstacle: 'throttled' } },
        answers: ark(event({ code: 'Throttling.RateQuota', message: 'm' }), 429),
      },
    ],
    [
      'a decision that a gateway puts into words',
      {
        ...{ provider: 'modelark', at: 'create', want: { ...CONTENT, taken: 'no' } },
        answers: ark(
          {
            code: 'upstream_error',
            message: 'upstream: InputImageSensitiveContentDetected.PrivacyInformation, no',
          },
          400,
        ),
      },
    ],
    [
      "the public gateway's form",
      {
        ...{ provider: 'modelark', at: 'create', want: { kind: 'failed', obstacle: 'access', taken: 'no' } },
        answers: ark({ ResponseMetadata: { Error: { Code: 'AccessDenied', Message: 'm' } } }, 403),
      },
    ],
    [
      'a code that is a number',
      {
        provider: 'modelstudio',
        at: 'task',
        answers: studioTask({ task_status: 'FAILED', code: 500 }),
        want: OWN,
      },
    ],
    // Spellings of states.
    ...['CANCELED', 'cancelled', 'error', 'Failed'].map((status): [string, Case] => [
      `a task of ModelArk that is ${status}`,
      { provider: 'modelark', at: 'task', answers: arkTask({ status }), want: OWN },
    ]),
    ...['FAILURE', 'CANCELLED', 'failed'].map((task_status): [string, Case] => [
      `a task of Model Studio that is ${task_status}`,
      { provider: 'modelstudio', at: 'task', answers: studioTask({ task_status }), want: OWN },
    ]),
    [
      'a task of fal that is FAILED',
      { provider: 'fal', at: 'task', answers: ark({ status: 'FAILED' }), want: OWN },
    ],
    [
      'a running task in other words',
      {
        provider: 'modelark',
        at: 'task',
        answers: arkTask({ status: 'processing' }),
        want: { kind: 'waiting' },
      },
    ],
    // Results that have ended, and cannot be read.
    [
      'an error that is a text',
      {
        provider: 'modelark',
        at: 'task',
        answers: arkTask({ status: 'failed', error: 'broken' }),
        want: OWN,
      },
    ],
    [
      'content that is no object',
      {
        provider: 'modelark',
        at: 'task',
        answers: arkTask({ status: 'succeeded', content: 'no' }),
        want: OWN,
      },
    ],
    [
      'choices that are no list',
      {
        provider: 'modelstudio',
        at: 'task',
        answers: studioTask({ task_status: 'SUCCEEDED', choices: 'no' }),
        want: OWN,
      },
    ],
    [
      'a message that is a text',
      {
        provider: 'modelstudio',
        at: 'task',
        answers: studioTask({ task_status: 'SUCCEEDED', choices: [{ message: 'no' }] }),
        want: OWN,
      },
    ],
    [
      'an image beside something else',
      {
        ...{ provider: 'modelstudio', at: 'task', want: { kind: 'done', outputs: [{ url: 'https://a' }] } },
        answers: studioTask({
          task_status: 'SUCCEEDED',
          choices: [{ message: { content: ['x', { image: 'https://a' }, 7] } }],
        }),
      },
    ],
    [
      'a video that is no text',
      {
        provider: 'modelstudio',
        at: 'task',
        answers: studioTask({ task_status: 'SUCCEEDED', video_url: { a: 1 } }),
        want: OWN,
      },
    ],
    [
      'an output of another shape',
      { provider: 'fal', at: 'task', answers: result(200, { result: {} }), want: OWN },
    ],
    [
      'a text for media',
      { provider: 'fal', at: 'task', answers: result(200, { detail: 'nothing' }), want: OWN },
    ],
    [
      'images that are bare URLs',
      {
        ...{
          provider: 'fal',
          at: 'task',
          want: { kind: 'done', outputs: [{ url: 'https://a' }, { url: 'https://b' }] },
        },
        answers: result(200, { images: ['https://a', { url: 'https://b' }] }),
      },
    ],
    [
      'one image',
      {
        provider: 'fal',
        at: 'task',
        answers: result(200, { image: { url: 'https://a' } }),
        want: { kind: 'done', outputs: [{ url: 'https://a' }] },
      },
    ],
    [
      'an error type in a header alone',
      {
        provider: 'fal',
        at: 'task',
        answers: result(503, '<html>', { 'x-fal-error-type': 'runner_disconnected' }),
        want: OWN,
      },
    ],
    // The same code at the other end.
    [
      'a file that cannot be had, in a task',
      {
        ...{ provider: 'modelark', at: 'task', want: INPUT },
        answers: arkTask({
          status: 'failed',
          error: { code: 'InvalidParameter', message: '`content[1]`: download failed' },
        }),
      },
    ],
    [
      'an unpaid account, in a task',
      {
        provider: 'modelstudio',
        at: 'task',
        answers: studioTask({ task_status: 'FAILED', code: 'Arrearage' }),
        want: OWN,
      },
    ],
    [
      'a decision within a message, in a task',
      {
        ...{ provider: 'modelstudio', at: 'task', want: CONTENT },
        answers: studioTask({
          ...{ task_status: 'FAILED', code: 'InvalidParameter' },
          message: '<400> InternalError.Algo.DataInspectionFailed: Input data',
        }),
      },
    ],
    // What cannot be read at all is not waited for until the deadline.
    ...(['modelark', 'modelstudio'] as const).flatMap((provider): [string, Case][] =>
      [{}, [], { status: 7 }, 'ok', null].map((body): [string, Case] => [
        `${JSON.stringify(body)} of ${provider}`,
        { provider, at: 'task', answers: ark(body), want: { kind: 'refused', code: 'provider_error' } },
      ]),
    ),
    [
      'no JSON of a result',
      {
        provider: 'fal',
        at: 'task',
        answers: result(200, 'ok'),
        want: { kind: 'refused', code: 'provider_error' },
      },
    ],
  ])('is read also where lists do not have it: %s', async (_, one) => {
    expect(meaningOf(await read(one), one.want)).toEqual(one.want);
  });
});
