import { describe, expect, test } from '@jest/globals';
import { between, methodAt, methods, ROUTES, service, UNKNOWN_TO_OPENAI } from './api-methods.ts';
import { LEAST } from './option-sets.ts';
import { ofType, onlyOne, policiesOf, propertiesOf, render, synthesizeService } from './service-template.ts';

/** The first route of a path takes every method without a route, and refuses such methods. */
const methodOf = (name: string, method: string, path: string): string =>
  ROUTES.find((route) => route[1] === path)?.[2] === name ? 'ANY' : method;
const STREAMED = ['create-openai-image', 'edit-openai-image'].map((name) => `api/${name}`);
/** The functions invoked by rules, with the number of rules. */
const BY_RULES = { 'events/reconcile': 1, 'events/reconcile-lost': 2, 'events/run-canary': 1 };

describe('the API', () => {
  test('is one regional REST API with one stage', () => {
    const api = onlyOne(service.resources, 'AWS::ApiGateway::RestApi').Properties;
    const stage = onlyOne(service.resources, 'AWS::ApiGateway::Stage').Properties;

    expect(api.EndpointConfiguration).toEqual({ Types: ['REGIONAL'] });
    // Bodies reach the functions as they were sent, also those that are not UTF-8.
    expect(api.BinaryMediaTypes).toEqual(['*/*']);
    expect(stage.StageName).toBe('prod');
    expect(stage.MethodSettings).toEqual([
      {
        HttpMethod: '*',
        ResourcePath: '/*',
        DataTraceEnabled: false,
        ThrottlingBurstLimit: 2000,
        ThrottlingRateLimit: 1000,
      },
    ]);
    // Metrics of each method cost by the method and month, and no alarm uses them.
    expect(JSON.stringify(stage.MethodSettings ?? [])).not.toContain('"MetricsEnabled":true');
  });

  test('has a method for each route, and for each path without one', () => {
    const routes = ROUTES.map(([method, path, name]) => `${methodOf(name, method, path)} ${path}`);
    const others = methods
      .map(({ method, path }) => `${method} ${path}`)
      .filter((one) => !routes.includes(one));

    expect(methods.map(({ method, path }) => `${method} ${path}`)).toEqual(expect.arrayContaining(routes));
    expect(others.toSorted()).toEqual(
      [...between, '/{proxy+}', ...UNKNOWN_TO_OPENAI].map((path) => `ANY ${path}`).toSorted(),
    );
  });

  test.each(ROUTES)('%s %s is proxied to %s, with every content type', (method, path, name) => {
    const { Integration, ApiKeyRequired, AuthorizationType } = methodAt(
      methodOf(name, method, path),
      path,
    ).properties;

    expect([AuthorizationType, ApiKeyRequired]).toEqual(['NONE', undefined]);
    expect(Integration).toMatchObject({ Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST' });
    expect(JSON.stringify(Integration.Uri)).toContain(
      `{"Fn::GetAtt":["${service.functions[name]?.logicalId}","Arn"]}`,
    );
  });

  test('streams the responses of the routes that wait for images, for as long as their functions run', () => {
    const streamed = methods.filter(({ properties }) => JSON.stringify(properties).includes('STREAM'));

    expect(streamed.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
      ['edits', 'generations'].map((kind) => `ANY /openai/v1/images/${kind}`),
    );
    for (const { properties } of streamed) {
      expect(properties.Integration).toMatchObject({
        ResponseTransferMode: 'STREAM',
        TimeoutInMillis: 300_000,
      });
      expect(render(properties.Integration.Uri)).toMatch(/\/response-streaming-invocations$/);
    }
  });

  test('invokes its functions, and no others, by a role of its own', () => {
    const [invoker, ...others] = ofType(service.resources, 'AWS::IAM::Role').filter(
      ([, { Properties }]) =>
        Properties.Policies !== undefined &&
        JSON.stringify(Properties.AssumeRolePolicyDocument).includes('"apigateway.amazonaws.com"'),
    );
    const proxied = methods.filter(({ properties }) => properties.Integration.Type === 'AWS_PROXY');
    const byRole = new Set(ROUTES.map(([, , name]) => name).filter((name) => !STREAMED.includes(name)));

    expect(others).toEqual([]);
    expect(policiesOf(service.resources, invoker?.[0]).flatMap(({ statements }) => statements)).toEqual([
      {
        Effect: 'Allow',
        Action: 'lambda:InvokeFunction',
        Resource: [...byRole]
          .map((name) => String(service.functions[name]?.logicalId))
          .toSorted()
          .map((id) => ({ 'Fn::GetAtt': [id, 'Arn'] })),
      },
    ]);
    for (const { path, properties } of proxied) {
      const isStreamed = properties.Integration.ResponseTransferMode === 'STREAM';
      const expected = isStreamed ? undefined : { 'Fn::GetAtt': [invoker?.[0], 'Arn'] };
      expect([path, properties.Integration.Credentials]).toEqual([path, expected]);
    }
  });

  test('may invoke the functions that stream by their own policies, each for its path only', () => {
    const permissions = propertiesOf(service.resources, 'AWS::Lambda::Permission').filter(
      ({ Principal }) => Principal === 'apigateway.amazonaws.com',
    );

    expect(permissions.map(({ FunctionName }) => FunctionName['Fn::GetAtt'][0]).toSorted()).toEqual(
      STREAMED.map((name) => service.functions[name]?.logicalId).toSorted(),
    );
    expect(permissions.map(({ SourceArn }) => render(SourceArn)).toSorted()).toEqual(
      ['edits', 'generations'].map(
        (kind) =>
          `arn:AWS::Partition:execute-api:AWS::Region:AWS::AccountId:HttpApiRestApi/HttpApiRestApiDeploymentStageprod/*/openai/v1/images/${kind}`,
      ),
    );
  });

  test('function policies otherwise allow only the rules', () => {
    const permissions = propertiesOf(service.resources, 'AWS::Lambda::Permission');
    const byRules = permissions.filter(({ Principal }) => Principal === 'events.amazonaws.com');

    for (const [name, rules] of Object.entries(BY_RULES)) {
      const { logicalId } = service.functions[name] ?? {};
      const given = byRules.filter(({ FunctionName }) => FunctionName['Fn::GetAtt'][0] === logicalId);
      for (const { SourceArn } of given) expect(SourceArn['Fn::GetAtt'][1]).toBe('Arn');
      expect([name, given.length]).toEqual([name, rules]);
    }
    expect(permissions).toHaveLength(
      STREAMED.length + Object.values(BY_RULES).reduce((sum, rules) => sum + rules, 0),
    );
  });

  test('is deployed after every method exists', () => {
    const { DependsOn = [] } = onlyOne(service.resources, 'AWS::ApiGateway::Deployment');

    const ids = ofType(service.resources, 'AWS::ApiGateway::Method').map(([logicalId]) => logicalId);
    expect(DependsOn).toEqual(expect.arrayContaining(ids));
  });
});

test('without published rates there is no route for quotes and no function', async () => {
  const { resources, functions } = await synthesizeService();

  expect(Object.keys(functions)).not.toContain('api/create-quote');
  const parts = ofType(resources, 'AWS::ApiGateway::Resource').map(
    ([, { Properties }]) => Properties.PathPart,
  );
  expect(parts).not.toContain('quotes');
});

test("without the surface for OpenAI's clients there are neither its routes nor its functions", async () => {
  const { resources, functions } = await synthesizeService(LEAST);

  expect(Object.keys(functions).filter((name) => name.includes('openai'))).toEqual([]);
  expect(
    ofType(resources, 'AWS::ApiGateway::Resource').filter(
      ([, { Properties }]) => Properties.PathPart === 'openai',
    ),
  ).toEqual([]);
});
