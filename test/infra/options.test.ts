import { describe, expect, test } from '@jest/globals';
import {
  API_CERTIFICATE,
  DEVELOPMENT,
  DOMAINS,
  FILES_CERTIFICATE,
  FILES_WEB_ACL,
  LEAST,
  PRODUCTION,
} from './option-sets.ts';
import {
  ofType,
  onlyOne,
  propertiesOf,
  render,
  type ServiceTemplate,
  synthesizeService,
} from './service-template.ts';

const plain = await synthesizeService();
const production = await synthesizeService(PRODUCTION);
const development = await synthesizeService(DEVELOPMENT);

const variable = ({ functions }: ServiceTemplate, name: string, key: string): string =>
  render(functions[name]?.properties.Environment.Variables[key]);
const stageOf = ({ resources }: ServiceTemplate) => onlyOne(resources, 'AWS::ApiGateway::Stage').Properties;

describe('custom domains', () => {
  test('serve the API and the files by their certificates, and are the URLs that callers get', () => {
    const service = production;

    expect(onlyOne(service.resources, 'AWS::ApiGateway::DomainName').Properties).toMatchObject({
      DomainName: 'api.example.com',
      RegionalCertificateArn: API_CERTIFICATE,
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'TLS_1_2',
    });
    expect(
      onlyOne(service.resources, 'AWS::ApiGateway::BasePathMapping').Properties.BasePath,
    ).toBeUndefined();
    const { DistributionConfig } = onlyOne(service.resources, 'AWS::CloudFront::Distribution').Properties;
    expect(DistributionConfig).toMatchObject({
      Aliases: ['files.example.com'],
      ViewerCertificate: { AcmCertificateArn: FILES_CERTIFICATE, MinimumProtocolVersion: 'TLSv1.2_2021' },
    });
    expect(variable(service, 'api/create-generation', 'PUBLIC_BASE_URL')).toBe('https://api.example.com');
    expect(variable(service, 'api/get-generation', 'FILE_DELIVERY_BASE_URL')).toBe(
      'https://files.example.com',
    );
    expect(Object.keys(service.outputs)).toEqual(
      expect.arrayContaining(['ApiDomainTarget', 'FilesDomainTarget']),
    );
  });

  test.each<[Record<string, string>, string, string]>([
    [{ apiDomainName: 'api.example.com' }, 'apiCertificateArn', 'apiDomainName needs a certificate'],
    [
      { filesCertificateArn: FILES_CERTIFICATE },
      'filesDomainName',
      'filesCertificateArn needs a domain name',
    ],
    [
      { ...DOMAINS, filesCertificateArn: API_CERTIFICATE },
      'filesCertificateArn',
      'CloudFront takes certificates of us-east-1 only',
    ],
    [{ ...DOMAINS, publicBaseUrl: 'https://x.example' }, 'publicBaseUrl', 'apiDomainName is the base URL'],
    [
      { ...DOMAINS, deliveryBaseUrl: 'https://x.example' },
      'deliveryBaseUrl',
      'filesDomainName is the base URL',
    ],
    [{ wafRequestsPer5Minutes: '3000' }, 'filesWebAclArn', 'CloudFront takes a web ACL of us-east-1'],
  ])('with %j fail the synthesis at %s: %s', async (context, key, message) => {
    await expect(synthesizeService(context)).rejects.toThrow(new RegExp(`${message}[\\s\\S]*at ${key}`));
  });
});

describe('the web ACL', () => {
  test('is there only when asked for', () => {
    expect(ofType(plain.resources, 'AWS::WAFv2::WebACL')).toEqual([]);
  });

  test('guards the stage with a rate by address, the reputation list and the common rules', () => {
    const { resources } = production;
    const { Scope, DefaultAction, Rules } = onlyOne(resources, 'AWS::WAFv2::WebACL').Properties;

    expect([Scope, DefaultAction]).toEqual(['REGIONAL', { Allow: {} }]);
    expect(Rules.map(({ Name }: { Name: string }) => Name)).toEqual([
      'RateByAddress',
      'AWSManagedRulesAmazonIpReputationList',
      'AWSManagedRulesCommonRuleSet',
    ]);
    expect(Rules[0]).toMatchObject({
      Action: { Block: {} },
      Statement: { RateBasedStatement: { AggregateKeyType: 'IP', Limit: 3000 } },
    });
    expect(render(onlyOne(resources, 'AWS::WAFv2::WebACLAssociation').Properties.ResourceArn)).toBe(
      'arn:AWS::Partition:apigateway:AWS::Region::/restapis/HttpApiRestApi/stages/HttpApiRestApiDeploymentStageprod',
    );
  });

  test('is another for the distribution, which takes one of us-east-1 only', () => {
    const aclOf = ({ resources }: typeof plain) =>
      onlyOne(resources, 'AWS::CloudFront::Distribution').Properties.DistributionConfig.WebACLId;

    expect([aclOf(plain), aclOf(production)]).toEqual([undefined, FILES_WEB_ACL]);
  });

  test('only counts what our own API sends by design: large bodies, any text, URLs in bodies, no user agent', () => {
    const { Rules } = onlyOne(production.resources, 'AWS::WAFv2::WebACL').Properties;

    const overrides = Rules[2].Statement.ManagedRuleGroupStatement.RuleActionOverrides;
    expect(overrides.map(({ Name }: { Name: string }) => Name)).toEqual([
      'SizeRestrictions_BODY',
      'CrossSiteScripting_BODY',
      'GenericLFI_BODY',
      'GenericRFI_BODY',
      'EC2MetaDataSSRF_BODY',
      'NoUserAgent_HEADER',
    ]);
    for (const { ActionToUse } of overrides) expect(ActionToUse).toEqual({ Count: {} });
  });
});

describe('access logs', () => {
  test('are on by default, and say who called what, without query strings, headers or email addresses', () => {
    const { AccessLogSetting } = stageOf(plain);

    expect(JSON.parse(AccessLogSetting.Format)).toEqual({
      httpRequestId: '$context.requestId',
      requestTime: '$context.requestTime',
      sourceIp: '$context.identity.sourceIp',
      method: '$context.httpMethod',
      resource: '$context.resourcePath',
      status: '$context.status',
      responseBytes: '$context.responseLength',
      responseMs: '$context.responseLatency',
      functionMs: '$context.integrationLatency',
      gatewayError: '$context.error.responseType',
    });
  });

  test('have the account settings without which a stage cannot log, and which other stacks may use too', () => {
    const { resources } = plain;
    const account = onlyOne(resources, 'AWS::ApiGateway::Account');

    expect(onlyOne(resources, 'AWS::ApiGateway::Stage').DependsOn).toContain(account.logicalId);
    expect(account.DeletionPolicy).toBe('Retain');
    const role = account.Properties.CloudWatchRoleArn['Fn::GetAtt'][0];
    expect(resources[role]?.DeletionPolicy).toBe('Retain');
  });

  test('can be switched off', () => {
    const service = development;

    expect(stageOf(service).AccessLogSetting).toBeUndefined();
    expect(ofType(service.resources, 'AWS::ApiGateway::Account')).toEqual([]);
  });
});

test('stage throttling takes its limits from the context', () => {
  expect(stageOf(production).MethodSettings).toMatchObject([
    { ThrottlingRateLimit: 5000, ThrottlingBurstLimit: 5000 },
  ]);
});

test('every log group keeps its logs for the given time', () => {
  for (const [{ resources }, days] of [
    [plain, 30],
    [production, 365],
    [development, 7],
  ] as const) {
    const groups = ofType(resources, 'AWS::Logs::LogGroup');

    expect(groups.length).toBeGreaterThan(8);
    expect(new Set(groups.map(([, { Properties }]) => Properties.RetentionInDays))).toEqual(new Set([days]));
  }
});

describe('execution logs and traces', () => {
  const machinesOf = (service: ServiceTemplate) =>
    propertiesOf(service.resources, 'AWS::StepFunctions::StateMachine');

  test('are off by default', () => {
    for (const machine of machinesOf(plain)) {
      expect(machine.LoggingConfiguration).toBeUndefined();
      expect(machine.TracingConfiguration?.Enabled ?? false).toBe(false);
    }
    expect(stageOf(plain).TracingEnabled).toBe(false);
  });

  test('hold errors only, and no data of callers', () => {
    for (const { LoggingConfiguration } of machinesOf(production)) {
      expect(LoggingConfiguration).toMatchObject({ Level: 'ERROR', IncludeExecutionData: false });
    }
  });

  test('trace the stage, every function and every state machine', () => {
    const service = production;

    expect(stageOf(service).TracingEnabled).toBe(true);
    for (const { TracingConfiguration } of machinesOf(production)) {
      expect(TracingConfiguration).toEqual({ Enabled: true });
    }
    for (const { properties } of Object.values(service.functions)) {
      expect(properties.TracingConfig).toEqual({ Mode: 'Active' });
    }
  });
});

describe('the removal policy', () => {
  test('keep protects the stack against deletion, until an operator switches that off', () => {
    expect([plain, production, development].map(({ stack }) => stack.terminationProtection)).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('destroy takes table and files with the stack', () => {
    const { resources } = development;

    const table = onlyOne(resources, 'AWS::DynamoDB::Table');
    expect(table).toMatchObject({ DeletionPolicy: 'Delete', UpdateReplacePolicy: 'Delete' });
    expect(table.Properties.DeletionProtectionEnabled).toBe(false);
    expect(onlyOne(resources, 'AWS::S3::Bucket')).toMatchObject({ DeletionPolicy: 'Delete' });
    expect(ofType(resources, 'Custom::S3AutoDeleteObjects')).toHaveLength(1);
  });
});

test('the stack, and by it what it holds, has a tag to tell costs by', async () => {
  expect(plain.stack.tags).toEqual({ service: 'GenerationService' });
  expect((await synthesizeService(LEAST)).stack.tags).toEqual({ service: 'Another' });
});
