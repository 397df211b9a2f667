import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { Node } from 'constructs';
import { namesOfProvider, PROVIDER_IDS } from '../../../core/provider-names.ts';
import { readContext, StackContext } from '../../../lib/context.ts';

const ROUTES = { xQI3Pro: { provider: 'modelstudio', upstreamModel: 'qwen-image' } };
const required = {
  ...Object.fromEntries(
    PROVIDER_IDS.map((id) => [namesOfProvider(id).baseUrlContextKey, `https://${id}.example.com`]),
  ),
  modelRoutes: ROUTES,
};

/** A node of an app with this context. */
const aNode = (given: Record<string, unknown>): Node =>
  ({ tryGetContext: (key: string) => given[key] ?? null, getAllContext: () => given }) as Node;
/** The message with which this context is refused. */
const refusalOf = (given: Record<string, unknown>): string => {
  try {
    read(given);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`The context ${JSON.stringify(given)} is accepted.`);
};
const read = (given: Record<string, unknown> = {}) => readContext(aNode({ ...required, ...given }));

describe('the context', () => {
  test('has a default for every key but those of the providers', () => {
    expect(read()).toEqual({
      stackName: 'GenerationService',
      outputTtlSeconds: 82_800,
      retentionDays: 90,
      pauseSeconds: 180,
      refusedWorkPerHour: 60,
      imageDeadlineSeconds: 600,
      videoDeadlineSeconds: 3600,
      queueDeadlineSeconds: 3600,
      pollIntervalSeconds: 2,
      callbackWaitSeconds: 300,
      console: false,
      reconcileIntervalSeconds: 60,
      reconcilerMemory: 256,
      webhookRetrySeconds: '5,300,1800,7200,18000,36000,50400,72000,86400',
      reservedConcurrency: undefined,
      publicBaseUrl: undefined,
      deliveryBaseUrl: undefined,
      signingKeys: [1],
      allowPrivateTargets: false,
      userAgentUrl: undefined,
      aiMarking: 'none',
      publishRates: false,
      openaiSurface: true,
      openaiWaitSeconds: 240,
      openaiWaiting: 10,
      guardrailId: undefined,
      guardrailVersion: 'DRAFT',
      alarmEmail: undefined,
      canary: undefined,
      warmThroughput: undefined,
      apiDomainName: undefined,
      apiCertificateArn: undefined,
      filesDomainName: undefined,
      filesCertificateArn: undefined,
      apiRequestsPerSecond: 1_000,
      deliveredGigabytesPerHour: 100,
      apiBurst: 2_000,
      accessLogs: true,
      executionLogs: false,
      tracing: false,
      logRetentionDays: 30,
      removalPolicy: 'keep',
      wafRequestsPer5Minutes: undefined,
      filesWebAclArn: undefined,
      providers: 'real',
      providerAccounts: undefined,
      sandboxMaxRunning: undefined,
      maxRunning: undefined,
      ...required,
      modelRoutes: { xQI3Pro: [ROUTES.xQI3Pro] },
      models: [],
    });
  });

  test.each([
    [{ MODELARK_API_KEY: 'k' }, /The sandbox takes no real keys: unset MODELARK_API_KEY → at providers/],
    [{ MODELARK_API_KEY: 'k', MODELSTUDIO_API_KEY: 'k' }, /unset MODELARK_API_KEY and MODELSTUDIO_API_KEY/],
  ])('has no sandbox where the shell has real keys: %j', (environment, message) => {
    const node = aNode({ ...required, providers: 'sandbox' });

    expect(() => readContext(node, environment)).toThrow(message);
    expect(readContext(node, { MODELARK_API_KEY: '' }).providers).toBe('sandbox');
    expect(readContext(aNode(required), environment).providers).toBe('real');
  });

  test('is complete in cdk.json', () => {
    const { context } = JSON.parse(readFileSync(new URL('../../../cdk.json', import.meta.url), 'utf8'));

    expect(Object.keys(readContext(aNode(context)).modelRoutes)).toEqual([
      ...['xSD4.5', 'xSD5Pro', 'xQI3Pro', 'xZI1.0Pro', 'xW2.7S', 'xW3.0s'],
    ]);
  });

  test('is the same when given as text, as on the command line', () => {
    const typed = {
      outputTtlSeconds: 10,
      retentionDays: 0.5,
      pauseSeconds: 3,
      imageDeadlineSeconds: 840,
      videoDeadlineSeconds: 5400,
      pollIntervalSeconds: 1,
      callbackWaitSeconds: 2,
      reconcileIntervalSeconds: 10,
      webhookRetrySeconds: '1,2,3',
      alarmEmail: 'ops@example.com',
      allowPrivateTargets: true,
      publicBaseUrl: 'http://127.0.0.1:3000',
      guardrailId: 'abc',
      guardrailVersion: '12',
    };
    const asText = Object.fromEntries(Object.entries(typed).map(([key, value]) => [key, String(value)]));

    expect(read(typed)).toStrictEqual({ ...read(), ...typed });
    expect(read({ ...asText, modelRoutes: JSON.stringify(ROUTES) })).toStrictEqual(read(typed));
  });

  test.each([
    ['true', true],
    ['false', false],
    [true, true],
    [false, false],
  ])('allows private targets for %j: %p', (allowPrivateTargets, expected) => {
    expect(read({ allowPrivateTargets }).allowPrivateTargets).toBe(expected);
  });

  test.each([
    ['https://api.example.com/', 'https://api.example.com'],
    ['https://api.example.com/base//', 'https://api.example.com/base'],
  ])('removes trailing slashes from the base URL %s', (publicBaseUrl, expected) => {
    expect(read({ publicBaseUrl }).publicBaseUrl).toBe(expected);
  });

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

  /** The keys that take a number, found by what they make of some. */
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
