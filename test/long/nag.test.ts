import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { PROVIDERS } from '../../core/provider-names.ts';
import { OPENAI_ROUTES, OPENAI_VIDEO_ROUTES, ROUTES as SERVICE_ROUTES } from '../../core/routes.ts';
import { PRODUCTION, SANDBOX } from '../infra/option-sets.ts';
import { projectContext } from '../infra/service-template.ts';
import { addService, withTemporaryFolder } from '../infra/synthesis.ts';

const PATHS = Object.values({ ...SERVICE_ROUTES, ...OPENAI_ROUTES, ...OPENAI_VIDEO_ROUTES })
  .map(({ path }) => path.replaceAll(/[{}]/g, '\\$&'))
  .join('|');
/** The methods of the routes. A path's first route takes every method. */
const ROUTES = new RegExp(`^HttpApi/RestApi/Default(${PATHS})/[A-Z]+/Resource$`);
/** The methods that refuse every call. */
const REFUSALS = new RegExp(`^HttpApi/RestApi/Default(?!(${PATHS})/[A-Z]+/Resource$)/(.+/)?ANY/Resource$`);

/** The names of the providers in the stack. */
const PROVIDER_LABELS = Object.values(PROVIDERS)
  .map(({ label }) => label)
  .join('|');

/**
 * What AwsSolutions finds and we accept: the rule, the resources, and why it does not apply to them. Each finding has one reason.
 */
const ACKNOWLEDGED: [rule: RegExp, path: RegExp, why: string][] = [
  [
    /APIG2$/,
    /^HttpApi\/RestApi\/Resource$/,
    "Functions validate each request and name its wrong fields; the gateway's validation would answer before the key is checked, and name none.",
  ],
  [
    /APIG4$/,
    ROUTES,
    'Functions check the API key in the same read as account and rate limit; callbacks carry an HMAC.',
  ],
  [/COG4$/, ROUTES, 'Callers are programs with API keys, not users of Cognito.'],
  [/(APIG4|COG4)$/, REFUSALS, 'They refuse every call: there is nothing to authorize.'],
  [
    /APIG6$/,
    /^HttpApi\/RestApi\/DeploymentStage\.prod\/Resource$/,
    'Execution logs hold paths with email addresses; access logs hold the resource instead.',
  ],
  [/CFR1$/, /^Delivery\/Distribution\/Resource$/, 'Callers are anywhere; URLs are signed.'],
  [
    /CFR3$/,
    /^Delivery\/Distribution\/Resource$/,
    'Its standard logs hold signed URLs, which are credentials; those that can leave them out are configured in us-east-1 only.',
  ],
  [
    /IAM4\[.*AmazonAPIGatewayPushToCloudWatchLogs\]$/,
    /^HttpApi\/RestApi\/CloudWatchRole\/Resource$/,
    'The gateway writes the logs of all APIs of the region by this role, as AWS documents it.',
  ],
  [
    /IAM5\[Resource::<DataStoreOutputs\w+\.Arn>\/outputs\/\*\]$/,
    /\/(DeleteGeneration|BulkDeleteGenerations|DeleteEndUser|OpenaiVideos|StoreOutputs|FailRequest|ExpireRequests|Reconcile|ReconcileLost)\/Role\/Resource$/,
    'A file is named by its request.',
  ],
  [
    /IAM5\[Resource::<DataStoreOutputs\w+\.Arn>\/clips\/\*\]$/,
    /\/(MeasureClips|DeleteGeneration|BulkDeleteGenerations|DeleteEndUser|OpenaiVideos|StoreOutputs|FailRequest|ExpireRequests|Reconcile|ReconcileLost)\/Role\/Resource$/,
    'A copy of a reference clip is named by its request.',
  ],
  [
    /IAM5\[Resource::<DataStoreOutputs\w+\.Arn>\/uploads\/\*\]$/,
    /\/(CreateUpload|EditOpenaiImage|OpenaiVideos|DeleteGeneration|BulkDeleteGenerations|DeleteEndUser|Reconcile)\/Role\/Resource$/,
    'An upload has a name of its own; deletions remove those that a request named.',
  ],
  [
    /IAM5\[Resource::arn:.*:s3:::exports\.example\/GenerationService\/\*\]$/,
    /^TableExport\/Role\/Resource$/,
    'DynamoDB names the objects of an export.',
  ],
  [
    /IAM5\[Resource::arn:.*:execution:<Generation.*\]$/,
    /^Reconciler\/(Reconcile|ReconcileLost)\/Role\/Resource$/,
    'An execution is named by its request.',
  ],
  [
    /IAM5\[Resource::arn:.*:execution:<LedgerVerification.*\]$/,
    /^LedgerVerification\/Workflow\/MapRuns\/Resource$/,
    'Step Functions names the executions of a Map, and looks at them with the role of their state machine.',
  ],
  [
    /IAM5\[Resource::arn:.*:execution:.*\]$/,
    /^ExecutionStopper\/Policy\/Resource$/,
    'Whatever runs is stopped before its state machine is deleted.',
  ],
  [/IAM5\[Resource::\*\]$/, /\/Role\/Resource$/, 'X-Ray and the delivery of logs have no resources.'],
  [
    /S1$/,
    /^DataStore\/Outputs\/Resource$/,
    'Its only reader is the distribution, so its log would name no caller; what is written and removed follows from the table.',
  ],
  [
    /SF1$/,
    /^((Generation|Expiry|Webhook)Workflow|LedgerVerification\/Workflow)\/Machine\/StateMachine\/Resource$/,
    'Step Functions keeps the history of each execution for 90 days; `-c executionLogs=true` logs those that fail. A log of every event would repeat the history.',
  ],
  [
    /SMG4$/,
    new RegExp(`^ProviderSecrets/(${PROVIDER_LABELS})/Resource$`),
    'Providers issue these keys, by no interface: docs/operating.md says how to rotate them.',
  ],
  [
    /SMG4$/,
    /^ProviderSecrets\/Callbacks\/Resource$/,
    'A new value makes callbacks of tasks under way unknown: rotated when an operator decides so, by docs/operating.md.',
  ],
  [
    /SMG4$/,
    /^Delivery\/SigningKey\/Resource$/,
    'CloudFront must know the public half: rotated by deployments, with two keys in the group, by docs/operating.md.',
  ],
  [
    /SMG4$/,
    /^Sandbox\/ApiKey\/Resource$/,
    'It protects nothing: made-up pictures for anybody who has the address.',
  ],
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
      // Without an address for alarms, the stack adds a warning of its own.
      context: { ...projectContext(), ...PRODUCTION, ...SANDBOX, alarmEmail: 'operators@example.com' },
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
  test('find nothing that is not acknowledged, with one reason, on its resource', () => {
    const reasonsFor = ({ rule, path }: (typeof findings)[number]): string[] =>
      ACKNOWLEDGED.flatMap(([rules, paths, why]) => (rules.test(rule) && paths.test(path) ? [why] : []));
    const others = findings.filter((finding) => reasonsFor(finding).length !== 1);

    expect(others).toEqual([]);
  });

  test.each(ACKNOWLEDGED)('%s on %s is still found: %s', (rules, paths) => {
    expect(findings.some(({ rule, path }) => rules.test(rule) && paths.test(path))).toBe(true);
  });
});
