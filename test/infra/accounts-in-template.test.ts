import { beforeAll, describe, expect, test } from '@jest/globals';
import { ofType, policiesOf, roleOf, type ServiceTemplate, synthesizeService } from './service-template.ts';

const ROUTES = {
  'xW2.7S': [
    { provider: 'modelstudio', upstreamModel: 'wan2.7-i2v' },
    { provider: 'modelstudio@eu', upstreamModel: 'wan2.7-i2v' },
  ],
};

describe('a further account at a provider', () => {
  let template: ServiceTemplate;
  beforeAll(async () => {
    template = await synthesizeService({
      modelRoutes: ROUTES,
      providerAccounts: { modelstudio: ['default', { name: 'eu', baseUrl: 'https://eu.example' }] },
      reconcilerMemory: '512',
    });
  });

  test('has a secret, an address and alarms of its own', () => {
    const { resources, outputs, functions } = template;
    const variables = functions['events/reconcile']?.properties.Environment.Variables;
    const secret = JSON.stringify(variables.MODELSTUDIO_SECRET_ARN_EU);

    expect(variables.MODELSTUDIO_BASE_URL_EU).toBe('https://eu.example');
    expect(secret).toContain('ProviderSecretsModelStudioEu');
    expect(secret).not.toBe(JSON.stringify(variables.MODELSTUDIO_SECRET_ARN));
    expect(JSON.stringify(outputs.ModelStudioSecretNameEu)).toContain('ProviderSecretsModelStudioEu');
    expect(outputs.ModelStudioBaseUrlEu).toMatchObject({ Value: 'https://eu.example' });
    const alarms = ofType(resources, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) =>
      JSON.stringify(Properties),
    );
    expect(alarms.filter((alarm) => alarm.includes('"modelstudio@eu"'))).toHaveLength(3);
  });

  test('is read by the functions that call providers', () => {
    const statements = JSON.stringify(
      policiesOf(template.resources, roleOf(template, 'workflow/dispatch-request')),
    );

    expect(statements).toContain('ProviderSecretsModelStudioEu');
  });

  test('leaves the reconciler as much memory as the context says', () => {
    expect(template.functions['events/reconcile']?.properties.MemorySize).toBe(512);
  });

  test('is declared before a route leads there', async () => {
    await expect(synthesizeService({ modelRoutes: ROUTES })).rejects.toThrow(
      'providerAccounts has no modelstudio@eu',
    );
  });
});
