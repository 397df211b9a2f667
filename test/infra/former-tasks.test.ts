import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { VERSION } from '../../lib/release.ts';
import { Workflow, type WorkflowProps } from '../../lib/workflow.ts';
import { WEBHOOK_DELIVERY_DEFINITION } from '../../lib/workflow-definitions.ts';
import { ofType, type Resource } from './service-template.ts';

const bundle = mkdtempSync(join(tmpdir(), 'former-tasks-'));
beforeAll(() => writeFileSync(join(bundle, 'index.mjs'), 'export const handler = () => {};'));
afterAll(() => rmSync(bundle, { recursive: true, force: true }));

/** The resources of a stack with the webhooks' workflow, whose task is bound as in the service. */
const synthesize = (
  changes: Partial<WorkflowProps<'deliver-webhook' | 'send-webhook'>>,
): Record<string, Resource> => {
  const stack = new Stack(new App({ analyticsReporting: false }), 'Shop');
  const workflow = new Workflow(stack, 'Webhooks', {
    ...(WEBHOOK_DELIVERY_DEFINITION as WorkflowProps<'deliver-webhook' | 'send-webhook'>),
    bundleOf: () => bundle,
    context: { executionLogs: false, tracing: false },
    ...changes,
  });
  for (const task of Object.values(workflow.tasks)) {
    task.addEnvironment({ TABLE_NAME: 'table-1' });
    task.allow(['dynamodb:GetItem'], ['arn:aws:dynamodb:us-east-1:111122223333:table/table-1']);
    task.trace();
  }
  return Template.fromStack(stack).toJSON().Resources;
};

const TASK = WEBHOOK_DELIVERY_DEFINITION.tasks['deliver-webhook'];
const functionsOf = (resources: Record<string, Resource>) =>
  Object.fromEntries(ofType(resources, 'AWS::Lambda::Function'));

describe('a task function that was removed', () => {
  const before = synthesize({ tasks: { 'deliver-webhook': TASK, 'send-webhook': TASK } });
  const oldId = Object.keys(functionsOf(before)).find((id) => id.includes('SendWebhook')) ?? '';
  const after = synthesize({ formerTasks: { 'send-webhook': 'deliver-webhook' } });

  test('is gone at once unless it is declared', () => {
    expect(Object.keys(functionsOf(synthesize({})))).not.toContain(oldId);
  });

  test('stays under its logical id, with the code, role, variables and tracing of the one that does its work', () => {
    const { [oldId]: old, ...others } = functionsOf(after);
    const [now] = Object.values(others);

    const { LoggingConfig: oldLogs, ...oldProperties } = old?.Properties ?? {};
    const { LoggingConfig: newLogs, ...newProperties } = now?.Properties ?? {};
    expect(oldProperties).toEqual(newProperties);
    expect(oldProperties.Environment.Variables).toEqual({
      STACK_NAME: 'Shop',
      SERVICE_VERSION: VERSION,
      TABLE_NAME: 'table-1',
    });
    expect(oldProperties.TracingConfig).toEqual({ Mode: 'Active' });
    // Its log group is the one it had.
    expect(oldLogs).toEqual(before[oldId]?.Properties.LoggingConfig);
    expect(newLogs).not.toEqual(oldLogs);
  });

  test('may be called by the state machine, and write its log', () => {
    const text = JSON.stringify(ofType(after, 'AWS::IAM::Policy'));
    const { LogGroup } = after[oldId]?.Properties.LoggingConfig ?? {};

    const [statement] = ofType(after, 'AWS::IAM::Policy')
      .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement)
      .filter(({ Action }) => Action === 'lambda:InvokeFunction');
    expect(statement.Resource).toContainEqual({ 'Fn::GetAtt': [oldId, 'Arn'] });
    expect(statement.Resource).toHaveLength(2);
    expect(text).toContain(JSON.stringify({ 'Fn::GetAtt': [LogGroup.Ref, 'Arn'] }));
  });

  test('cannot be declared for a task that the workflow does not have', () => {
    expect(() => synthesize({ formerTasks: { 'send-hook': 'send-webhook' } })).toThrow(
      /send-hook.*send-webhook/,
    );
  });
});
