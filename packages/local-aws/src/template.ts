import type { BucketCors } from './aws/s3/cors.ts';
import { checkAlarmTopics } from './template/alarm-topics.ts';
import { type ApiSpec, apiSpec } from './template/api.ts';
import { type Assembly, loadAssembly } from './template/assembly.ts';
import { bucketCors, bucketNames, secretSpecs, tableSpecs } from './template/data.ts';
import { type DistributionSpec, distributionSpec } from './template/distribution.ts';
import { type FunctionUrlSpec, functionUrlSpecs } from './template/function-urls.ts';
import { type FunctionSpec, functionSpecs, stateMachineSpecs } from './template/functions.ts';
import { refuseUnknownKinds } from './template/kinds.ts';
import { type CustomResourceState, createResolver, type Resolver } from './template/resolver.ts';
import { roleSpecs } from './template/roles.ts';
import { type AsyncSettings, asyncSettings, ruleSpecs } from './template/rules.ts';
import type { RuleSpec, SecretSpec, StateMachineSpec, TableSpec } from './types.ts';

/** A synthesized stack, as the local run reads it. */
export interface Stack {
  name: string;
  resolver: Resolver;
  tables: TableSpec[];
  buckets: string[];
  cors: BucketCors;
  secrets: SecretSpec[];
  functions: FunctionSpec[];
  functionUrls: FunctionUrlSpec[];
  stateMachines: StateMachineSpec[];
  rules: RuleSpec[];
  /** How asynchronous invocations of each function are treated, by its ARN. */
  asyncSettings: Map<string, AsyncSettings>;
  /** Attributes that are known once resources run, by logical id: of custom resources and of function URLs. */
  customResources: Map<string, CustomResourceState>;
  /** The REST API, undefined when the stack has none. */
  api: ApiSpec | undefined;
  /** The CloudFront distribution. Call it after the custom resources were created. */
  distribution: () => DistributionSpec | undefined;
  /** A stack output; undefined when the stack has none of that name. */
  output: (name: string) => string | undefined;
  /** The names of all stack outputs. */
  outputNames: readonly string[];
  /** All stack outputs, by name. Call it after the custom resources were created. */
  outputs: () => Record<string, string>;
}

/** Reads the one stack of the cloud assembly in `directory`. Throws `TemplateError` when it cannot run locally. */
export const readStack = (directory: string): Stack => {
  const assembly: Assembly = loadAssembly(directory);
  const customResources = new Map<string, CustomResourceState>();
  const resolver = createResolver(assembly.template, assembly.stackName, customResources);
  refuseUnknownKinds(resolver);
  checkAlarmTopics(resolver);
  const roles = roleSpecs(resolver);
  return {
    name: assembly.stackName,
    resolver,
    tables: tableSpecs(resolver),
    buckets: bucketNames(resolver),
    cors: bucketCors(resolver),
    secrets: secretSpecs(resolver),
    functions: functionSpecs(assembly, resolver, roles),
    functionUrls: functionUrlSpecs(resolver),
    stateMachines: stateMachineSpecs(resolver, roles),
    rules: ruleSpecs(resolver, roles),
    asyncSettings: asyncSettings(resolver),
    customResources,
    api: apiSpec(resolver),
    distribution: () => distributionSpec(resolver),
    outputNames: Object.keys(assembly.template.Outputs ?? {}),
    outputs: () =>
      Object.fromEntries(
        Object.entries(assembly.template.Outputs ?? {}).map(([name, { Value }]) => [
          name,
          resolver.text(Value),
        ]),
      ),
    output: (name) => {
      const output = assembly.template.Outputs?.[name];
      return output && resolver.text(output.Value);
    },
  };
};
