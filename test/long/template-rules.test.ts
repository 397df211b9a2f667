import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { App, CfnResource, Stack } from 'aws-cdk-lib';
import { DEVELOPMENT, PRODUCTION, SANDBOX } from '../infra/option-sets.ts';
import { projectContext } from '../infra/service-template.ts';
import { addService, withTemporaryFolder } from '../infra/synthesis.ts';

// The rules take seconds, and far longer on a busy machine.
jest.setTimeout(300_000);

const RULES_ARE_ERRORS = '@aws-cdk/core:validateAgainstDefaultRules';

/** A table without a key: CloudFormation would refuse it at deploy time. */
const addBadResource = (app: App): CfnResource =>
  new CfnResource(new Stack(app, 'Bad'), 'KeylessTable', {
    type: 'AWS::DynamoDB::Table',
    properties: { BillingMode: 'PAY_PER_REQUEST' },
  });

/**
 * Synthesizes an app with the project's context; returns the rules' reports, by plugin. Throws on errors, with the
 * report in the message; the CDK's command line would exit with 1.
 */
const synthesize = (build: (app: App, folder: string) => unknown, overrides: Record<string, unknown> = {}) =>
  withTemporaryFolder((folder): unknown[] => {
    const app = new App({ outdir: join(folder, 'out'), context: { ...projectContext(), ...overrides } });
    build(app, folder);
    app.synth();
    return JSON.parse(readFileSync(join(app.outdir, 'validation-report.json'), 'utf8')).pluginReports;
  });

describe('the template rules', () => {
  test('are errors in this project', () => {
    expect(projectContext()[RULES_ARE_ERRORS]).toBe(true);
  });

  test('find no problem in the service', () => {
    // Without an address for alarms, the stack adds a warning of its own.
    const context = { alarmEmail: 'ops@example.com' };

    expect(synthesize((app, folder) => addService(app, join(folder, 'bundles')), context)).toEqual([]);
  });

  test.each([
    [
      'with every option, as in production',
      { ...PRODUCTION, alarmEmail: 'ops@example.com', guardrailId: 'g1' },
    ],
    ['for development, with the sandbox', { ...DEVELOPMENT, ...SANDBOX }],
  ])('find no problem %s, in another region', (_title, context) => {
    const env = { account: '111122223333', region: 'ap-southeast-1' };

    expect(synthesize((app, folder) => addService(app, join(folder, 'bundles'), env), context)).toEqual([]);
  });

  test('fail the synthesis of a resource that CloudFormation would refuse, naming it and the reason', () => {
    expect(() => synthesize(addBadResource)).toThrow(
      /'KeySchema' is a required property[\s\S]*Bad\/KeylessTable/,
    );
  });

  test('only warn without the setting', () => {
    const warn = jest.spyOn(console, 'error').mockImplementation(() => undefined);

    const reports = synthesize(addBadResource, { [RULES_ARE_ERRORS]: undefined });

    expect(JSON.stringify(reports)).toContain("'KeySchema' is a required property");
    expect(warn).toHaveBeenCalledWith(expect.stringContaining(RULES_ARE_ERRORS));
    warn.mockRestore();
  });
});
