import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Principal, StateMachineSpec } from '../types.ts';
import { type Assembly, TemplateError } from './assembly.ts';
import type { Resolver, StackResource } from './resolver.ts';
import { principalOf, type RoleSpec } from './roles.ts';

/** A function of the template. */
export interface FunctionSpec {
  logicalId: string;
  name: string;
  arn: string;
  /** Absolute path of the module that holds the handler. */
  entryFile: string;
  /** The exported name of the handler. */
  handlerExport: string;
  /** Its own variables. Throws `TemplateError` for more than 4 KB, and while one refers to a custom resource that was not created yet. */
  environment: () => Record<string, string>;
  timeoutSeconds: number;
  memoryMegabytes: number;
  logGroupName: string;
  principal: Principal;
  /** Most invocations at once, kept for this function. Undefined: the account's, shared with the others. */
  reservedConcurrency?: number;
}

/** Lambda's defaults: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-function.html */
const DEFAULT_TIMEOUT_SECONDS = 3;
const DEFAULT_MEMORY_MEGABYTES = 128;

const MODULE_EXTENSIONS = ['.mjs', '.js', '.cjs'];

/** Most bytes of a function's own variables: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const MAX_VARIABLES_BYTES = 4_096;

/** The variables. Throws `TemplateError` for more than Lambda takes: it measures them as JSON, as its refusal shows. */
const checkedVariables = (logicalId: string, variables: Record<string, string>): Record<string, string> => {
  const bytes = Buffer.byteLength(JSON.stringify(variables));
  if (bytes <= MAX_VARIABLES_BYTES) return variables;
  throw new TemplateError(
    `${logicalId}: its environment variables take ${bytes} bytes, and Lambda takes 4 KB`,
  );
};

const entryOf = (assembly: Assembly, resolver: Resolver, { logicalId, properties }: StackResource) => {
  const code = (resolver.resolve(properties.Code) ?? {}) as { S3Key?: string };
  const folder = code.S3Key === undefined ? undefined : assembly.assetPath(code.S3Key);
  if (folder === undefined) {
    throw new TemplateError(`${logicalId}: its code is not an asset of the cloud assembly`);
  }
  const handler = resolver.text(properties.Handler);
  const dot = handler.lastIndexOf('.');
  const stem = join(folder, handler.slice(0, dot));
  const entryFile = MODULE_EXTENSIONS.map((extension) => stem + extension).find((file) => existsSync(file));
  if (!entryFile) throw new TemplateError(`${logicalId}: no module for handler ${handler} in ${folder}`);
  return { entryFile, handlerExport: handler.slice(dot + 1) };
};

/** The stack's functions. Throws `TemplateError` when code is not an asset of the assembly. */
export const functionSpecs = (
  assembly: Assembly,
  resolver: Resolver,
  roles: ReadonlyMap<string, RoleSpec>,
): FunctionSpec[] =>
  resolver.resources('AWS::Lambda::Function').map((resource) => {
    const { logicalId, properties } = resource;
    const variables = (properties.Environment as { Variables?: Record<string, unknown> } | undefined)
      ?.Variables;
    const logging = properties.LoggingConfig as { LogGroup?: unknown } | undefined;
    const name = resolver.nameOf(logicalId);
    return {
      logicalId,
      name,
      arn: String(resolver.attribute(logicalId, 'Arn')),
      ...entryOf(assembly, resolver, resource),
      environment: () =>
        checkedVariables(
          logicalId,
          Object.fromEntries(
            Object.entries(variables ?? {}).map(([key, value]) => [key, resolver.text(value)] as const),
          ),
        ),
      timeoutSeconds: Number(resolver.resolve(properties.Timeout) ?? DEFAULT_TIMEOUT_SECONDS),
      memoryMegabytes: Number(resolver.resolve(properties.MemorySize) ?? DEFAULT_MEMORY_MEGABYTES),
      logGroupName: logging?.LogGroup === undefined ? `/aws/lambda/${name}` : resolver.text(logging.LogGroup),
      principal: principalOf(logicalId, roles.get(resolver.text(properties.Role))),
      ...(properties.ReservedConcurrentExecutions !== undefined && {
        reservedConcurrency: Number(resolver.text(properties.ReservedConcurrentExecutions)),
      }),
    };
  });

/** The stack's state machines, with the placeholders of their definitions filled in. */
export const stateMachineSpecs = (
  resolver: Resolver,
  roles: ReadonlyMap<string, RoleSpec>,
): StateMachineSpec[] =>
  resolver.resources('AWS::StepFunctions::StateMachine').map(({ logicalId, properties }) => {
    const { DefinitionString, Definition, DefinitionSubstitutions, RoleArn } = properties;
    if (DefinitionString === undefined && Definition === undefined) {
      throw new TemplateError(
        `${logicalId}: its definition is not in the template (use DefinitionBody.fromString)`,
      );
    }
    const text =
      DefinitionString === undefined
        ? JSON.stringify(resolver.resolve(Definition))
        : resolver.text(DefinitionString);
    const substitutions = (resolver.resolve(DefinitionSubstitutions) ?? {}) as Record<string, unknown>;
    const role = roles.get(resolver.text(RoleArn));
    return {
      arn: resolver.reference(logicalId),
      name: resolver.nameOf(logicalId),
      definition: text.replace(/\$\{([^}]*)\}/g, (placeholder, name: string) => {
        const key = name.trim();
        return Object.hasOwn(substitutions, key) ? String(substitutions[key]) : placeholder;
      }),
      roleName: role?.name ?? resolver.text(RoleArn),
      principal: principalOf(logicalId, role),
    };
  });
