import { describe, expect, test } from '@jest/globals';
import { EVERY_OPTION } from './option-sets.ts';
import { ofType, onlyOne, render, type ServiceTemplate, synthesizeService } from './service-template.ts';

const plain = await synthesizeService({ exportBucket: 'exports.example' });
const service = await synthesizeService({ canary: 'xSD4.5', exportBucket: 'exports.example' });
const RUN = 'events/run-canary';

const countsOf = ({ resources }: ServiceTemplate) =>
  Object.values(resources).reduce<Record<string, number>>((counts, { Type }) => {
    counts[Type] = (counts[Type] ?? 0) + 1;
    return counts;
  }, {});

describe('the canary', () => {
  test('is absent unless a model is given', () => {
    expect(plain.functions[RUN]).toBeUndefined();
    expect(Object.keys(plain.outputs)).not.toContain('CanaryKeySecretName');
  });

  test('is one function, one rule, one secret, one alarm and what they need', () => {
    const [before, after] = [countsOf(plain), countsOf(service)];
    const more = Object.entries(after).flatMap(([type, count]) => {
      const added = count - (before[type] ?? 0);
      return added === 0 ? [] : [[type, added]];
    });

    expect(Object.fromEntries(more)).toEqual({
      'AWS::Lambda::Function': 1,
      'AWS::Lambda::EventInvokeConfig': 1,
      'AWS::Lambda::Permission': 1,
      'AWS::IAM::Role': 1,
      'AWS::Logs::LogGroup': 1,
      'AWS::Events::Rule': 1,
      'AWS::SecretsManager::Secret': 1,
      'AWS::CloudWatch::Alarm': 1,
    });
  });

  test('runs once an hour, and a run that failed is not repeated', () => {
    const rules = ofType(service.resources, 'AWS::Events::Rule').filter(([, { Properties }]) =>
      render(Properties.Targets[0].Arn).startsWith('CanaryRunCanary'),
    );

    expect(rules.map(([, { Properties }]) => Properties)).toMatchObject([
      { ScheduleExpression: 'rate(1 hour)', Targets: [{ RetryPolicy: { MaximumRetryAttempts: 0 } }] },
    ]);
  });

  test('has a key that starts empty, and is named by an output', () => {
    const [[, secret] = []] = ofType(service.resources, 'AWS::SecretsManager::Secret').filter(([id]) =>
      id.startsWith('CanaryApiKey'),
    );

    expect(secret?.Properties).toEqual({ Description: "API key of the canary's account" });
    expect(JSON.stringify(service.outputs.CanaryKeySecretName)).toContain('CanaryApiKey');
  });

  test('makes its image with the given model', () => {
    expect(service.functions[RUN]?.properties.Environment.Variables.CANARY_MODEL).toBe('xSD4.5');
  });

  test('has its log searched by the saved queries', () => {
    const [[, query] = []] = ofType(service.resources, 'AWS::Logs::QueryDefinition');

    expect(JSON.stringify(query?.Properties.LogGroupNames)).toContain('CanaryLogs');
  });

  test.each(['xW2.7S', 'xNone', 'true', ''])(
    'with %j, which is no image model, fails the synthesis',
    async (canary) => {
      await expect(synthesizeService({ canary })).rejects.toThrow(/Expected an image model[\s\S]*at canary/);
    },
  );

  test('works beside the sandbox, for sandbox images', async () => {
    const { resources } = await synthesizeService(EVERY_OPTION);

    expect(onlyOne(resources, 'AWS::Lambda::Url').Properties.AuthType).toBe('NONE');
  });
});
