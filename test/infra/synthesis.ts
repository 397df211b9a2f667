import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { App, cx_api as cxapi } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { readContext } from '../../lib/context.ts';
import { GenerationServiceStack } from '../../lib/generation-service-stack.ts';
import {
  ofType,
  projectContext,
  type Resource,
  type ServiceTemplate,
  type TemplateFunction,
} from './service-template.ts';

/** Runs `use` with a temporary folder, which is then removed. */
export const withTemporaryFolder = <T>(use: (folder: string) => T): T => {
  const folder = mkdtempSync(join(tmpdir(), 'generation-service-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** The project's context, under which a synthesis keeps its warnings in the assembly and prints none. */
export const quietContext = (): Record<string, unknown> => ({
  ...projectContext(),
  [cxapi.ANNOTATIONS_IN_VALIDATION_REPORT]: false,
});

/** The template of the real stack with the project's context and these overrides. Throws as the synthesis does. */
export const synthesize = (overrides: Record<string, unknown>): ServiceTemplate =>
  withTemporaryFolder((folder) => synthesizeIn(folder, overrides));

/** As `synthesize`, in a folder for many syntheses: its bundles are written and read once, which is half of what a synthesis takes. */
export const synthesizeIn = (folder: string, overrides: Record<string, unknown>): ServiceTemplate => {
  const bundlesFolder = join(folder, 'bundles');
  const app = new App({
    outdir: join(folder, 'out'),
    context: {
      ...quietContext(),
      ...overrides,
      [cxapi.DISABLE_ASSET_STAGING_CONTEXT]: true,
      [cxapi.DISABLE_CREATION_STACK_TRACES]: true,
    },
    // Template rules, traces and metadata are most of the cost of a synthesis. test/long/template-rules.test.ts runs the rules.
    builtinCloudFormationValidation: false,
    stackTraces: false,
    treeMetadata: false,
  });
  const service = addService(app, bundlesFolder);
  const { Resources: resources, Outputs: outputs } = Template.fromStack(service).toJSON();
  const artifact = app.synth().getStackArtifact(service.artifactId);
  const { terminationProtection = false, tags, messages } = artifact;
  const warnings = messages.flatMap(({ level, entry }) => (level === 'warning' ? String(entry.data) : []));
  const stack = { terminationProtection, tags, warnings };
  const assets = join(app.outdir, `${service.artifactId}.assets.json`);
  return { resources, outputs, stack, functions: functionsByBundle(resources, assets, bundlesFolder) };
};

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
  if (existsSync(bundle)) return bundle;
  mkdirSync(bundle, { recursive: true });
  writeFileSync(join(bundle, 'index.mjs'), name);
  return bundle;
};

/** Reads from the manifest of the assets which code comes from which bundle. */
const functionsByBundle = (
  resources: Record<string, Resource>,
  manifest: string,
  bundlesFolder: string,
): Record<string, TemplateFunction> => {
  const { files } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    files: Record<string, { source: { path: string } }>;
  };
  return Object.fromEntries(
    ofType(resources, 'AWS::Lambda::Function').flatMap(([logicalId, { Properties: properties }]) => {
      const { source } = files[String(properties.Code.S3Key).replace(/\.zip$/, '')] ?? {};
      // A function of the CDK, not of ours.
      if (!source?.path.startsWith(bundlesFolder)) return [];
      return [[relative(bundlesFolder, source.path), { logicalId, properties }]];
    }),
  );
};
