import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { readContext } from '../../lib/context.ts';
import { GenerationServiceStack } from '../../lib/generation-service-stack.ts';

/** A resource of the template. CloudFormation defines its properties. */
export interface Resource {
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is JSON without a schema here
  Properties: Record<string, any>;
  DependsOn?: string[];
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

/** A function of the service, with its logical id. */
export interface TemplateFunction {
  logicalId: string;
  properties: Resource['Properties'];
}

/** The template of the real stack. */
export interface ServiceTemplate {
  resources: Record<string, Resource>;
  outputs: Record<string, unknown>;
  /** Each function by the name of its bundle, such as `api/get-balance`. */
  functions: Record<string, TemplateFunction>;
}

/** The context of `cdk.json`, on which every synthesis builds. */
export const projectContext = (): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8')).context;

/** Context with which the stack has every optional part. */
export const EVERYTHING_CONFIGURED = { guardrailId: 'guardrail1' };

/** Runs `use` with a temporary folder, which is then removed. */
export const withTemporaryFolder = <T>(use: (folder: string) => T): T => {
  const folder = mkdtempSync(join(tmpdir(), 'generation-service-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const templates = new Map<string, ServiceTemplate>();

/**
 * The template of the real stack with the project's context and these overrides. Each is synthesized once per test
 * file, so treat it as read-only. Functions are identified by their bundles.
 */
export const synthesizeService = (overrides: Record<string, unknown> = {}): ServiceTemplate => {
  // As entries: a key overridden with undefined must count too.
  const key = JSON.stringify(Object.entries(overrides));
  const template = templates.get(key) ?? synthesize(overrides);
  templates.set(key, template);
  return template;
};

const synthesize = (overrides: Record<string, unknown>): ServiceTemplate =>
  withTemporaryFolder((folder) => {
    // The template rules are most of the cost of a synthesis; template-rules.test.ts runs them.
    const app = new App({
      outdir: join(folder, 'out'),
      context: { ...projectContext(), ...overrides },
      builtinCloudFormationValidation: false,
    });
    const template = Template.fromStack(addService(app, join(folder, 'bundles')));
    const { Resources: resources, Outputs: outputs } = template.toJSON();
    return { resources, outputs, functions: functionsByBundle(resources, app.outdir) };
  });

/** Adds the real stack to an app. Each bundle is a file with the function's name instead of code. */
export const addService = (
  app: App,
  bundlesFolder: string,
  env: { account?: string; region?: string } = {},
): GenerationServiceStack => {
  const context = readContext(app.node);
  return new GenerationServiceStack(app, 'GenerationService', {
    env,
    stackName: context.stackName,
    context,
    bundleOf: (name) => placeholderBundle(bundlesFolder, name),
  });
};

const placeholderBundle = (bundlesFolder: string, name: string): string => {
  const bundle = join(bundlesFolder, name);
  mkdirSync(bundle, { recursive: true });
  writeFileSync(join(bundle, 'index.mjs'), name);
  return bundle;
};

const functionsByBundle = (
  resources: Record<string, Resource>,
  assemblyFolder: string,
): Record<string, TemplateFunction> =>
  Object.fromEntries(
    ofType(resources, 'AWS::Lambda::Function').flatMap(([logicalId, { Properties: properties }]) => {
      const asset = `asset.${String(properties.Code.S3Key).replace(/\.zip$/, '')}`;
      const file = join(assemblyFolder, asset, 'index.mjs');
      // A function of the CDK, not of ours.
      if (!existsSync(file)) return [];
      return [[readFileSync(file, 'utf8'), { logicalId, properties }]];
    }),
  );

/** The resources of a type, with their logical ids. */
export const ofType = (resources: Record<string, Resource>, type: string): [string, Resource][] =>
  Object.entries(resources).filter(([, resource]) => resource.Type === type);

/** The one resource of a type. Throws when there are none or several. */
export const onlyOne = (
  resources: Record<string, Resource>,
  type: string,
): Resource & { logicalId: string } => {
  const [first, ...more] = ofType(resources, type);
  if (!first || more.length > 0) throw new Error(`Expected one ${type}.`);
  return { logicalId: first[0], ...first[1] };
};

/**
 * A template value in readable form: logical ids without CDK's hash, intrinsic functions as text. `{ 'Fn::GetAtt': ['DataStoreTable1E9F5574', 'Arn'] }` is `DataStoreTable.Arn`.
 */
export const render = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return String(value);
  const [[intrinsic, argument] = ['', undefined]] = Object.entries(value);
  if (intrinsic === 'Ref') return withoutHash(String(argument));
  if (intrinsic === 'Fn::GetAtt') {
    const [logicalId, attribute] = argument as [string, string];
    return `${withoutHash(logicalId)}.${attribute}`;
  }
  if (intrinsic === 'Fn::Join') {
    const [separator, parts] = argument as [string, unknown[]];
    return parts.map(render).join(separator);
  }
  throw new Error(`Not rendered: ${JSON.stringify(value)}`);
};

const withoutHash = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, '');
