import { describe, expect, test } from '@jest/globals';
import { StackContext } from '../../../lib/context.ts';
import { ROUTES, read } from './a-context.ts';

/** The message with which this context is refused. */
const refusalOf = (given: Record<string, unknown>): string => {
  try {
    read(given);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`The context ${JSON.stringify(given)} is accepted.`);
};

describe('the context', () => {
  test.each([
    'publicBaseUrl',
    'deliveryBaseUrl',
    'modelArkBaseUrl',
    'modelStudioBaseUrl',
    'modelArkPreviousBaseUrl',
  ])('takes an http or https URL as %s, without query, fragment and user', (key) => {
    for (const url of [
      'ftp://x.example',
      'javascript:alert(1)',
      'http:x.example',
      'http:///x.example',
      'https://x.example?a=b',
      'https://x.example/?',
      'https://x.example/#part',
      'https://me@x.example',
      'https://me:secret@x.example/base',
      ' https://x.example',
      'https://x.example/a b',
      'https://x.example\\a',
    ]) {
      expect(() => read({ [key]: url })).toThrow(
        `Expected an http or https URL without query, fragment and user → at ${key}`,
      );
    }
    for (const url of ['http://localhost:3000', 'https://x.example/base', 'http://[::1]:8080/a%20b']) {
      expect(read({ [key]: url })).toMatchObject({ [key]: url });
    }
  });

  test('has no webhook schedule that outlasts its execution, jitter included', () => {
    expect(() => read({ webhookRetrySeconds: `${'86400,'.repeat(11)}70692` })).toThrow(
      'Expected at most 13 days together, with 10 % of jitter → at webhookRetrySeconds',
    );
  });

  test('has routes for models of the catalog only', () => {
    const route = { provider: 'modelark', upstreamModel: 'x' };

    expect(() => read({ modelRoutes: { ...ROUTES, xSD5: route, toString: route } })).toThrow(
      /The catalog has no model xSD5, toString → at modelRoutes/,
    );
  });

  test('has lists of routes, each upstream once in a list and with the same limits in all', () => {
    const [first, second] = ['a', 'b'].map((upstreamModel) => ({ provider: 'modelark', upstreamModel }));
    const withRoutes = (...lists: unknown[]) =>
      read({ modelRoutes: { 'xSD4.5': lists[0], xSD5Pro: lists[1] ?? second } }).modelRoutes;

    expect(withRoutes([first, second])).toEqual({ 'xSD4.5': [first, second], xSD5Pro: [second] });
    expect(() => withRoutes([first, first])).toThrow('xSD4.5 names a route twice → at modelRoutes');
    expect(() => withRoutes([first, { ...second, maxRunning: 2 }])).toThrow(
      'xSD5Pro has other limits than another model of modelark b → at modelRoutes',
    );
    expect(() => withRoutes([first, { ...second, maxRunning: 0 }])).toThrow('modelRoutes');
  });

  test.each<[keyof StackContext, unknown[]]>([
    ['stackName', ['1st', 'a-name-longer-than-30-characters']],
    ['outputTtlSeconds', [0, 2_592_001, 1.5, 'soon', '', 'NaN']],
    ['retentionDays', [-1, 3651, 'ninety', '']],
    ['imageDeadlineSeconds', [0, 841, '600s', 0.5]],
    ['videoDeadlineSeconds', [0, 5401, '1h', 0.5, '']],
    ['callbackWaitSeconds', [0, 3601, 1.5, '']],
    ['reconcileIntervalSeconds', [0, 3601, 0.5, '']],
    [
      'webhookRetrySeconds',
      ['', ',', '5,', '5, 300', '5;300', '86401', '-1', '1.5', Array(21).fill(1).join(',')],
    ],
    ['alarmEmail', ['', 'ops', 7]],
    ['canary', ['', 'xW2.7S', 'xNone', 'true', 7]],
    ['warmThroughput', [4000, 40_001, 5000.5, 'fast']],
    ['pauseSeconds', [0, 3601, 0.5, '3m', '']],
    ['refusedWorkPerHour', [19, 1_000_001, 20.5, 'none', '']],
    ['pollIntervalSeconds', [0, 301, '5.5']],
    ['guardrailId', ['', 7]],
    ['guardrailVersion', ['latest', 'draft', '0', '-1', '1.5', '', 'v1']],
    ['publicBaseUrl', ['api.example.com', '', 7]],
    ['deliveryBaseUrl', ['/files', 'files']],
    ['apiDomainName', ['api.example.com/x']],
    ['filesCertificateArn', ['arn:aws:acm:eu-west-1']],
    ['apiRequestsPerSecond', ['0']],
    ['deliveredGigabytesPerHour', ['0', '0.5', 'much']],
    ['apiBurst', ['5001']],
    ['accessLogs', ['some']],
    ['executionLogs', ['']],
    ['tracing', ['1']],
    ['logRetentionDays', ['31']],
    ['removalPolicy', ['retain']],
    ['wafRequestsPer5Minutes', ['5']],
    ['signingKeys', ['', '1,1', '1,2,3,4,5,6']],
    ['reservedConcurrency', ['{"deliver-webhook":0}', '{"get-balance":5}']],
    ['providers', ['fake']],
    ['allowPrivateTargets', ['yes', 1, 'TRUE', '']],
    ['publishRates', ['yes', 1, 'TRUE', '']],
    ['openaiSurface', ['yes', 1, 'TRUE', '']],
    ['openaiWaitSeconds', [0, 241, 1.5, 'long', '']],
    ['openaiWaiting', [0, 101, 1.5]],
    ['openaiWaitingInAll', [0, 100_001]],
    [
      'userAgentUrl',
      [
        '',
        'me',
        'mailto:me@example.com',
        'https://a.example/ b',
        'https://a.example/ü',
        'https://a.example/(b)',
      ],
    ],
    ['maxRunning', [0, 201, 1.5, 'many', '']],
    ['sandboxMaxRunning', [0, 10_001, 1.5, 'many', '']],
    ['modelArkBaseUrl', [null, 'none']],
    ['modelArkPreviousBaseUrl', ['ark']],
    ['modelStudioBaseUrl', [null, '']],
    [
      'modelRoutes',
      [
        null,
        '{',
        'none',
        '[]',
        { xQI3Pro: { provider: 'other', upstreamModel: 'x' } },
        { xQI3Pro: { provider: 'modelark', upstreamModel: '' } },
        { xQI3Pro: { provider: 'modelark', upstreamModel: 'x', region: 'y' } },
        { xQI3Pro: { provider: 'modelark', upstreamModel: 'x', maxRunning: 201 } },
        { xQI3Pro: { provider: 'nobody', upstreamModel: 'x' } },
      ],
    ],
  ])('names %s when its value is invalid', (key, values) => {
    for (const value of values) {
      expect(() => read({ [key]: value })).toThrow(new RegExp(`The context is not valid.*at ${key}`, 's'));
    }
  });

  test.each([
    ['alarmemail', 'did you mean alarmEmail?'],
    ['alarm-email', 'did you mean alarmEmail?'],
    ['retentiondys', 'did you mean retentionDays?'],
    ['MaxRuning', 'did you mean maxRunning?'],
    ['colour', 'docs/configuring.md has all keys'],
    ['toString', 'docs/configuring.md has all keys'],
  ])('refuses the unknown key %s: %s', (key, advice) => {
    expect(() => read({ [key]: 'a' })).toThrow(
      `The context is not valid: Unknown key: ${advice} → at ${key.includes('-') ? `["${key}"]` : key}`,
    );
  });

  test.each([
    '@aws-cdk/core:checkSecretUsage',
    '@aws-cdk-containers/ecs-service-extensions:enableDefaultLogDriver',
    'aws:cdk:enable-path-metadata',
    'availability-zones:account=111122223333:region=eu-west-1',
    'cdk-migrate',
    'acknowledged-issue-numbers',
  ])('accepts %s, which the CDK sets', (key) => {
    expect(read({ [key]: true })).toEqual(read());
  });

  /** The context keys that take a number: their schema accepts at least one of four numbers, and leaves it unchanged. */
  const numeric = (Object.keys(StackContext.shape) as (keyof StackContext)[]).filter((key) =>
    [1, 30, 300, 5000].some((value) => {
      const { success, data } = StackContext.shape[key].safeParse(value);
      return success && data === value;
    }),
  );

  test.each(numeric)(
    'refuses %s that is no number in one line, which says what is expected and given',
    (key) => {
      for (const value of ['abc', '12h', '1,5', '', ' ', 'NaN', 'Infinity', '-1', true, [5]]) {
        const [message, ...others] = refusalOf({ [key]: value }).split('\n');

        expect(others).toEqual([]);
        expect(message).toMatch(/^The context is not valid: Expected (a|a whole|one of) ?\S.*\d, not /);
        expect(message).toContain(`, not ${JSON.stringify(value)} → at ${key}`);
      }
    },
  );

  test('names all invalid keys at once, and unknown ones beside them', () => {
    expect(() => read({ colour: 'red', retentionDays: -1, pollIntervalSeconds: 0 })).toThrow(
      /at retentionDays.*at pollIntervalSeconds.*at colour/s,
    );
  });

  test.each<[keyof StackContext, unknown[]]>([
    ['outputTtlSeconds', [1, 2_592_000]],
    ['retentionDays', [0, 3650]],
    ['pauseSeconds', [1, 3600]],
    ['refusedWorkPerHour', [20, 1_000_000]],
    ['imageDeadlineSeconds', [1, 840]],
    ['videoDeadlineSeconds', [1, 5400]],
    ['callbackWaitSeconds', [1, 3600]],
    ['reconcileIntervalSeconds', [1, 3600]],
    ['webhookRetrySeconds', ['0', Array(20).fill(51_054).join(','), `${'86400,'.repeat(11)}70691`]],
    ['pollIntervalSeconds', [1, 300]],
    ['maxRunning', [1, 200]],
    ['sandboxMaxRunning', [1, 10_000]],
  ])('accepts %s at its bounds %p', (key, values) => {
    for (const value of values) expect(read({ [key]: value })[key]).toBe(value);
  });
});
