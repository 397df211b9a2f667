import { describe, expect, test } from '@jest/globals';
import { ERROR_STATUS, type ErrorCode } from '../../core/errors.ts';
import {
  ROUTES as CORE_ROUTES,
  OPENAI_ROUTES,
  OPENAI_VIDEO_ROUTES,
  OPENAI_VIDEOS,
} from '../../core/routes.ts';
import { VERSION } from '../../lib/release.ts';
import { ofType, onlyOne, policiesOf, propertiesOf, render, synthesizeService } from './service-template.ts';

/** Every route: method, path and function. */
const ROUTES = [
  ...Object.entries({ ...CORE_ROUTES, ...OPENAI_ROUTES }),
  ...Object.values(OPENAI_VIDEO_ROUTES).map((route) => [OPENAI_VIDEOS, route] as const),
].map(([name, { method, path }]) => [method, path, `api/${name}`] as const);
/** The first route of a path takes every method without a route, and refuses such methods. */
const methodOf = (name: string, method: string, path: string): string =>
  ROUTES.find((route) => route[1] === path)?.[2] === name ? 'ANY' : method;
/** The function that answers unknown paths for OpenAI's clients, in their shape, and the paths. */
const ANSWERS_UNKNOWN = 'api/get-openai-model';
const UNKNOWN_TO_OPENAI = ['/openai', '/openai/v1', '/openai/v1/images', '/openai/{proxy+}'];
const STREAMED = ['create-openai-image', 'edit-openai-image'].map((name) => `api/${name}`);
/** The functions invoked by rules, with the number of rules. */
const BY_RULES = { 'events/reconcile': 1, 'events/reconcile-lost': 2 };

/**
 * The gateway's own errors and their codes; the defaults cover the rest. Only its refusals of an unknown path want a key of the
 * gateway's, and get the code of that refusal.
 */
const GATEWAY_ERRORS: [type: string, code: ErrorCode][] = [
  ['MISSING_AUTHENTICATION_TOKEN', 'not_found'],
  ['RESOURCE_NOT_FOUND', 'not_found'],
  ['INVALID_API_KEY', 'not_found'],
  ['REQUEST_TOO_LARGE', 'validation_error'],
  ['ACCESS_DENIED', 'forbidden'],
  ['WAF_FILTERED', 'forbidden'],
  ['THROTTLED', 'rate_limited'],
  ['DEFAULT_4XX', 'validation_error'],
  ['DEFAULT_5XX', 'internal_error'],
];

/** The error in a template: the API's format, without placeholders, and the fields of OpenAI's clients, whose unknown paths reach a function. */
const errorIn = (templates: Record<string, unknown>): { code: ErrorCode; message: string } => {
  expect(Object.keys(templates)).toEqual(['application/json']);
  const body = JSON.parse(render(templates['application/json']));
  const forOpenAi = body.error.code !== 'not_found' && { type: expect.any(String), param: null };
  expect(body).toEqual({
    error: { code: expect.any(String), message: expect.stringMatching(/^[A-Z].*\.$/), ...forOpenAi },
  });
  return body.error;
};

/** Below which there are routes, without being one. */
const between = [
  ...new Set(
    ROUTES.flatMap(([, path]) => {
      const parts = path.split('/').slice(1);
      return parts.map((_part, index) => `/${parts.slice(0, index).join('/')}`);
    }),
  ),
]
  .map((path) => (path === '/' ? '' : path))
  .filter((path) => !ROUTES.some((route) => route[1] === path) && !UNKNOWN_TO_OPENAI.includes(path));

const service = await synthesizeService({ publishRates: 'true' });
const pathOf = (reference: { Ref: string } | { 'Fn::GetAtt': [string, string] }): string => {
  if (!('Ref' in reference)) return '';
  const { PathPart, ParentId } = service.resources[reference.Ref]?.Properties ?? {};
  return `${pathOf(ParentId)}/${PathPart}`;
};

const methods = propertiesOf(service.resources, 'AWS::ApiGateway::Method').map((properties) => ({
  method: properties.HttpMethod,
  path: pathOf(properties.ResourceId),
  properties,
}));

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

const methodAt = (method: string, path: string) => {
  const found = methods.find((candidate) => candidate.method === method && candidate.path === path);
  if (!found) throw new Error(`There is no ${method} ${path}.`);
  return found;
};

describe('an unknown path', () => {
  test.each([...between, '/{proxy+}'])(
    '"%s" wants a key that there is not, by a method of its own: without one the gateway would judge an Authorization header',
    (path) => {
      const { AuthorizationType, ApiKeyRequired, Integration } = methodAt('ANY', path).properties;

      expect([AuthorizationType, ApiKeyRequired, Integration.Type]).toEqual(['NONE', true, 'MOCK']);
    },
  );

  test.each(UNKNOWN_TO_OPENAI)("%s is answered in the shape of OpenAI's clients, by a function", (path) => {
    const { Integration, ApiKeyRequired, AuthorizationType } = methodAt('ANY', path).properties;

    expect([AuthorizationType, ApiKeyRequired, Integration.Type]).toEqual(['NONE', undefined, 'AWS_PROXY']);
    expect(JSON.stringify(Integration.Uri)).toContain(String(service.functions[ANSWERS_UNKNOWN]?.logicalId));
  });

  test('is refused with 404 for lack of that key, before its content type is checked', () => {
    const [, response] =
      ofType(service.resources, 'AWS::ApiGateway::GatewayResponse').find(
        ([, { Properties }]) => Properties.ResponseType === 'INVALID_API_KEY',
      ) ?? [];

    expect(response?.Properties.StatusCode).toBe('404');
    expect(errorIn(response?.Properties.ResponseTemplates).message).toBe(
      'There is no such route: https://DeliveryDistribution.DomainName/docs describes the API.',
    );
    for (const type of ['ApiKey', 'UsagePlan', 'UsagePlanKey']) {
      expect(ofType(service.resources, `AWS::ApiGateway::${type}`)).toEqual([]);
    }
  });

  test('is all that wants such a key', () => {
    const wanting = methods.filter(({ properties }) => properties.ApiKeyRequired === true);

    expect(wanting.map(({ path }) => path).toSorted()).toEqual([...between, '/{proxy+}'].toSorted());
  });

  test('is every resource of the API that has no route', () => {
    const paths = [
      '',
      ...ofType(service.resources, 'AWS::ApiGateway::Resource').map(([id]) => pathOf({ Ref: id })),
    ];

    const withoutMethod = paths.filter((path) => !methods.some((method) => method.path === path));
    expect(withoutMethod).toEqual([]);
  });
});

describe("the gateway's own errors", () => {
  const responses = () => propertiesOf(service.resources, 'AWS::ApiGateway::GatewayResponse');

  test('cover every refusal: the defaults cover the rest', () => {
    expect(
      responses()
        .map(({ ResponseType }) => ResponseType)
        .toSorted(),
    ).toEqual(GATEWAY_ERRORS.map(([type]) => type).toSorted());
  });

  test.each(GATEWAY_ERRORS)('%s has the code %s with its status, in the API’s format', (type, code) => {
    const response = responses().find(({ ResponseType }) => ResponseType === type);

    expect(errorIn(response?.ResponseTemplates).code).toBe(code);
    expect(response?.StatusCode).toBe(String(ERROR_STATUS[code]));
    expect(response?.ResponseParameters).toEqual({
      'gatewayresponse.header.X-Request-Id': 'context.requestId',
      'gatewayresponse.header.X-Service-Version': `'${VERSION}'`,
      'gatewayresponse.header.X-Content-Type-Options': "'nosniff'",
      ...(code === 'rate_limited' ? { 'gatewayresponse.header.Retry-After': "'1'" } : {}),
      // The gateway's answer when Lambda throttles the function is one of these.
      ...(code === 'internal_error' ? { 'gatewayresponse.header.Retry-After': "'2'" } : {}),
    });
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
  const { resources, functions } = await synthesizeService({ openaiSurface: 'false' });

  expect(Object.keys(functions).filter((name) => name.includes('openai'))).toEqual([]);
  expect(
    ofType(resources, 'AWS::ApiGateway::Resource').filter(
      ([, { Properties }]) => Properties.PathPart === 'openai',
    ),
  ).toEqual([]);
});
