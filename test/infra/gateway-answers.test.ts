import { describe, expect, test } from '@jest/globals';
import { ERROR_STATUS, type ErrorCode } from '../../core/errors.ts';
import { VERSION } from '../../lib/release.ts';
import { between, methodAt, methods, pathOf, service, UNKNOWN_TO_OPENAI } from './api-methods.ts';
import { ofType, propertiesOf, render } from './service-template.ts';

/** The function that answers unknown paths for OpenAI's clients, in their shape. */
const ANSWERS_UNKNOWN = 'api/get-openai-model';

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
