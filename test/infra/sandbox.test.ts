import { describe, expect, test } from '@jest/globals';
import { namesOfProvider, PROVIDER_IDS, PROVIDERS } from '../../core/provider-names.ts';
import { DEVELOPMENT, SANDBOX } from './option-sets.ts';
import { ofType, policiesOf, render, roleOf, synthesizeService } from './service-template.ts';

const real = await synthesizeService();
const sandbox = await synthesizeService({ ...DEVELOPMENT, ...SANDBOX });

const STAND_IN = 'sandbox/answer-as-providers';
/** Functions that call providers, and functions that only need to know whether a key exists. */
const CALLERS = ['workflow/dispatch-request', 'workflow/query-provider', 'api/get-video', 'events/reconcile'];
const KNOWERS = ['api/create-generation', 'api/create-video', 'api/list-models', 'api/create-openai-image'];
const variablesOf = (name: string) => sandbox.functions[name]?.properties.Environment.Variables;
/** A value with the logical ids that it refers to. */
const referencesIn = (value: unknown): string => JSON.stringify(value);

describe('a stack with the sandbox', () => {
  test('has one function more, with a public URL, and no other function has one', () => {
    const urls = ofType(sandbox.resources, 'AWS::Lambda::Url');

    expect(Object.keys(sandbox.functions).filter((name) => !(name in real.functions))).toEqual([STAND_IN]);
    expect(urls).toHaveLength(1);
    expect(urls[0]?.[1].Properties.AuthType).toBe('NONE');
    expect(referencesIn(urls[0]?.[1].Properties.TargetFunctionArn)).toContain(
      sandbox.functions[STAND_IN]?.logicalId,
    );
    expect(ofType(real.resources, 'AWS::Lambda::Url')).toEqual([]);
  });

  test('lets anybody call that function by its URL, and by nothing else', () => {
    const permissions = ofType(sandbox.resources, 'AWS::Lambda::Permission').filter(([, { Properties }]) =>
      referencesIn(Properties.FunctionName).includes(sandbox.functions[STAND_IN]?.logicalId ?? 'none'),
    );

    expect(permissions.map(([, { Properties }]) => Properties.Action).toSorted()).toEqual([
      ...['lambda:InvokeFunction', 'lambda:InvokeFunctionUrl'],
    ]);
    for (const [, { Properties }] of permissions) {
      expect(Properties.Principal).toBe('*');
      const isByUrl = Properties.FunctionUrlAuthType === 'NONE' || Properties.InvokedViaFunctionUrl === true;
      expect(isByUrl).toBe(true);
    }
  });

  test('lets that function do nothing but write its log', () => {
    const role = roleOf(sandbox, STAND_IN);

    const { LogGroup } = sandbox.functions[STAND_IN]?.properties.LoggingConfig ?? {};
    expect(policiesOf(sandbox.resources, role).map(({ statements }) => statements)).toEqual([
      [
        {
          Effect: 'Allow',
          Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          Resource: { 'Fn::GetAtt': [LogGroup.Ref, 'Arn'] },
        },
      ],
    ]);
    expect(sandbox.resources[role]?.Properties.ManagedPolicyArns).toBeUndefined();
  });

  test.each([...CALLERS, ...KNOWERS])('points %s at it, with its key for every provider', (name) => {
    const variables = variablesOf(name);

    expect(referencesIn(variables.MODELARK_BASE_URL)).toMatch(/FunctionUrl.*"\/api\/v3"/);
    for (const names of PROVIDER_IDS.map(namesOfProvider)) {
      expect(referencesIn(variables[names.baseUrlVariable])).toContain('FunctionUrl');
      expect(render(variables[names.secretVariable])).toBe('SandboxApiKey');
    }
    expect(referencesIn(sandbox.outputs.ModelArkSecretName)).toContain('SandboxApiKey');
  });

  test('gives nobody the secrets for real keys, which stay what and where they are', () => {
    const secretsOf = (resources: typeof sandbox.resources) =>
      ofType(resources, 'AWS::SecretsManager::Secret').filter(([id]) =>
        Object.values(PROVIDERS).some(({ label }) => id.startsWith(`ProviderSecrets${label}`)),
      );
    const named = secretsOf(sandbox.resources).map(([id]) => id);

    expect(secretsOf(sandbox.resources)).toEqual(secretsOf(real.resources));
    expect(named).toHaveLength(PROVIDER_IDS.length);
    const others = Object.entries(sandbox.resources).filter(([id]) => !named.includes(id));
    for (const id of named) expect(referencesIn(others)).not.toContain(`"${id}"`);
  });

  test('takes the key that the service sends', () => {
    const secrets = ofType(sandbox.resources, 'AWS::SecretsManager::Secret');
    const key = secrets.find(([id]) => id.startsWith('SandboxApiKey'))?.[1].Properties.SecretString;

    expect(variablesOf(STAND_IN).SANDBOX_API_KEY).toBe(key);
  });

  test('limits that function, and no other, as told', () => {
    const limits = Object.entries(sandbox.functions).flatMap(([name, { properties }]) => {
      const { SANDBOX_MAX_RUNNING: most } = properties.Environment.Variables;
      return most === undefined ? [] : [[name, most]];
    });

    expect(limits).toEqual([[STAND_IN, '3']]);
  });

  test('offers the model that only the sandbox has', () => {
    const routes = (variables: Record<string, string> | undefined) =>
      JSON.parse(variables?.MODEL_ROUTES ?? '');

    expect(routes(variablesOf('api/list-models'))['xW3.0sPro'][0].upstreamModel).toBe('sandbox-xw3-pro');
    expect(
      routes(real.functions['api/list-models']?.properties.Environment.Variables)['xW3.0sPro'],
    ).toBeUndefined();
  });

  test('says its address, for npm run smoke', () => {
    expect(referencesIn(sandbox.outputs.SandboxUrl)).toContain('FunctionUrl');
    expect(real.outputs.SandboxUrl).toBeUndefined();
  });
});
