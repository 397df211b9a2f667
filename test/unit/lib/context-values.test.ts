import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readContext } from '../../../lib/context.ts';
import { aNode, ROUTES, read, required } from './a-context.ts';

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
});
