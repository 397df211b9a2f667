import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { PRODUCTION, SANDBOX } from './option-sets.ts';
import { projectContext } from './service-template.ts';
import { addService, withTemporaryFolder } from './synthesis.ts';

/** What AwsSolutions finds and we accept: the rule, the resources, and why it does not apply to them. */
const ACKNOWLEDGED: [rule: RegExp, path: RegExp, why: string][] = [
  [
    /APIG2$/,
    /^HttpApi\/RestApi/,
    'Functions validate each request, by schemas that answer in the format of the API.',
  ],
  [
    /APIG4$/,
    /^HttpApi\/RestApi/,
    'Functions check the API key in the same read as account and rate limit; callbacks carry an HMAC.',
  ],
  [/COG4$/, /^HttpApi\/RestApi/, 'Callers are programs with API keys, not users of Cognito.'],
  [
    /APIG6$/,
    /^HttpApi\/RestApi/,
    'Execution logs hold paths with email addresses; access logs hold the resource instead.',
  ],
  [/CFR1$/, /^Delivery\/Distribution/, 'Callers are anywhere; URLs are signed.'],
  [
    /CFR2$/,
    /^Delivery\/Distribution/,
    'It serves files by signed URL, without a query or body that a rule could judge.',
  ],
  [/CFR3$/, /^Delivery\/Distribution/, 'Its logs would hold signed URLs, which are credentials.'],
  [/IAM4\[.*AWSLambdaBasicExecutionRole\]$/, /\/ServiceRole\/Resource$/, 'Only the writing of logs.'],
  [
    /IAM4\[.*AmazonAPIGatewayPushToCloudWatchLogs\]$/,
    /CloudWatchRole\/Resource$/,
    "The gateway's own role for logs, as AWS gives it.",
  ],
  [
    /IAM5\[Resource::<DataStoreOutputs\w+\.Arn>\/outputs\/\*\]$/,
    /DefaultPolicy/,
    'A file is named by its request.',
  ],
  [
    /IAM5\[Resource::arn:.*:execution:.*\]$/,
    /DefaultPolicy|StopExecutions/,
    'An execution is named by its request.',
  ],
  [/IAM5\[Resource::\*\]$/, /DefaultPolicy|Wake/, 'X-Ray and the delivery of logs have no resources.'],
  [/S1$/, /^DataStore\/Outputs/, 'Only the distribution reads it, and only functions write it.'],
  [/SF1$/, /StateMachine/, 'The history of each execution is kept by Step Functions; failures are logged.'],
  [
    /SMG4$/,
    /ProviderSecrets|SigningKey/,
    'Rotated by hand, since providers issue the keys: docs/operating.md.',
  ],
  [/SMG4$/, /^Sandbox\/ApiKey/, 'It protects nothing: made-up pictures for anybody who has the address.'],
];

interface Report {
  pluginReports: {
    pluginName: string;
    violations: { ruleName: string; violatingConstructs: { constructPath: string }[] }[];
  }[];
}

let findings: { rule: string; path: string }[];
beforeAll(() => {
  findings = withTemporaryFolder((folder) => {
    const app = new App({
      outdir: join(folder, 'out'),
      context: { ...projectContext(), ...PRODUCTION, ...SANDBOX },
      builtinCloudFormationValidation: false,
    });
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    addService(app, join(folder, 'bundles'));
    // Findings are errors; the report is written first.
    expect(() => app.synth()).toThrow();
    const report: Report = JSON.parse(readFileSync(join(app.outdir, 'validation-report.json'), 'utf8'));
    return report.pluginReports.flatMap(({ violations }) =>
      violations.flatMap(({ ruleName, violatingConstructs }) =>
        violatingConstructs.map(({ constructPath }) => ({
          rule: ruleName,
          path: constructPath.replace(/^GenerationService\//, ''),
        })),
      ),
    );
  });
}, 60_000);

describe('the rules of AwsSolutions', () => {
  test('find nothing that is not acknowledged, with a reason, on its resource', () => {
    const open = findings.filter(
      ({ rule, path }) => !ACKNOWLEDGED.some(([rules, paths]) => rules.test(rule) && paths.test(path)),
    );

    expect(open).toEqual([]);
  });

  test.each(ACKNOWLEDGED)('%s on %s is still found: %s', (rules, paths) => {
    expect(findings.some(({ rule, path }) => rules.test(rule) && paths.test(path))).toBe(true);
  });
});
