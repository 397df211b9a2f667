import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A resource of the template; its properties may hold intrinsic functions. */
export interface TemplateResource {
  Type: string;
  Properties?: Record<string, unknown>;
  DependsOn?: string | string[];
  Condition?: string;
}

/** The parts of a CloudFormation template that are read. */
export interface Template {
  Resources: Record<string, TemplateResource>;
  Outputs?: Record<string, { Value: unknown; Condition?: string }>;
  Parameters?: Record<string, { Default?: unknown }>;
  Conditions?: Record<string, unknown>;
  Mappings?: Record<string, Record<string, Record<string, unknown>>>;
}

/** A synthesized stack on disk. */
export interface Assembly {
  stackName: string;
  template: Template;
  /** Absolute path of the asset with this S3 key; undefined when there is none. */
  assetPath(objectKey: string): string | undefined;
}

/** The template cannot run locally: it names something that is missing, not yet known, or not supported. */
export class TemplateError extends Error {
  override name = 'TemplateError';
}

interface Manifest {
  artifacts?: Record<string, { type: string; properties?: { templateFile?: string; file?: string } }>;
}

interface AssetManifest {
  files?: Record<string, { source: { path: string }; destinations: Record<string, { objectKey: string }> }>;
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;

/** Reads the cloud assembly in `directory`. Throws `TemplateError` unless it holds exactly one stack. */
export const loadAssembly = (directory: string): Assembly => {
  const artifacts = Object.entries(readJson<Manifest>(join(directory, 'manifest.json')).artifacts ?? {});
  const stacks = artifacts.filter(([, artifact]) => artifact.type === 'aws:cloudformation:stack');
  const [stack] = stacks;
  if (!stack || stacks.length > 1) {
    throw new TemplateError(`${directory} holds ${stacks.length} stacks; the local run takes exactly one`);
  }
  const [stackName, { properties }] = stack;

  const assets = new Map<string, string>();
  for (const [, artifact] of artifacts) {
    if (artifact.type !== 'cdk:asset-manifest' || !artifact.properties?.file) continue;
    const { files = {} } = readJson<AssetManifest>(join(directory, artifact.properties.file));
    for (const { source, destinations } of Object.values(files)) {
      for (const { objectKey } of Object.values(destinations)) {
        assets.set(objectKey, resolve(directory, source.path));
      }
    }
  }

  return {
    stackName,
    template: readJson<Template>(join(directory, properties?.templateFile ?? `${stackName}.template.json`)),
    assetPath: (objectKey) => assets.get(objectKey),
  };
};
