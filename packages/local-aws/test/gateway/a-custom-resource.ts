import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { provisionCustomResources } from '../../src/custom-resources.ts';
import type { TemplateResource } from '../../src/template/assembly.ts';
import { type CustomResourceState, createResolver } from '../../src/template/resolver.ts';
import type { InvocationResult } from '../../src/types.ts';

const folder = mkdtempSync(join(tmpdir(), 'custom-resources-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The event of CloudFormation that a function gets. */
export interface Event {
  RequestType: string;
  ResponseURL: string;
  LogicalResourceId: string;
  ResourceProperties: Record<string, unknown>;
  [name: string]: unknown;
}

/** The answer of a function to an event. */
export const respond = async ({ ResponseURL }: Event, body: unknown) => {
  await fetch(ResponseURL, {
    method: 'PUT',
    headers: { 'content-type': '' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
};

/** A state file of a local run that has not started yet. */
export const aStateFile = () => join(folder, `${crypto.randomUUID()}.json`);

/** A function that succeeds; its data holds the resource's name and a count of its events. */
export const succeeding = () => {
  const events: Event[] = [];
  const answer = async (event: Event): Promise<InvocationResult> => {
    events.push(event);
    const Data = { Name: event.LogicalResourceId, Asked: events.length };
    await respond(event, {
      Status: 'SUCCESS',
      PhysicalResourceId: `physical-${event.LogicalResourceId}`,
      Data,
    });
    return { payload: null };
  };
  return { events, answer };
};

const Maker: TemplateResource = { Type: 'AWS::Lambda::Function' };

/** A custom resource of the template, which the function `Maker` makes. */
export const aCustomResource = (
  Properties: Record<string, unknown> = {},
  more: Partial<TemplateResource> = {},
) => ({
  Type: 'Custom::Thing',
  Properties: { ServiceToken: { 'Fn::GetAtt': ['Maker', 'Arn'] }, ...Properties },
  ...more,
});

/** A start of the local run, as far as these resources are concerned. */
export const provision = async (
  Resources: Record<string, TemplateResource>,
  answer: (event: Event) => Promise<InvocationResult>,
  stateFile = aStateFile(),
  timeoutMilliseconds = 60_000,
) => {
  const customResources = new Map<string, CustomResourceState>();
  const resolver = createResolver({ Resources: { ...Resources, Maker } }, 'Shop', customResources);
  const functions: string[] = [];
  await provisionCustomResources({
    resolver,
    customResources,
    stateFile,
    timeoutMilliseconds,
    invoke: (arn, event) => {
      functions.push(arn);
      return answer(event as Event);
    },
  });
  return { customResources, stateFile, functions };
};
