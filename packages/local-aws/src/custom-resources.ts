import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { openResourceCalls, type Properties } from './custom-resource-calls.ts';
import { isCustomResource } from './template/attributes.ts';
import type { CustomResourceState, Resolver, StackResource } from './template/resolver.ts';
import type { InvokeFunction } from './types.ts';

/** What `provisionCustomResources` works with. */
export interface CustomResourcesOptions {
  resolver: Resolver;
  /** Receives the answers, by logical id. */
  customResources: Map<string, CustomResourceState>;
  invoke: InvokeFunction;
  /** Keeps the properties and answers of created resources; readable by its owner only. */
  stateFile: string;
  /** Time for a function to answer. Default: 15 s. */
  timeoutMilliseconds?: number;
}

interface KeptResource extends CustomResourceState {
  /** Of the resource. */
  type?: string;
  properties: Properties;
}

/** CloudFormation passes every scalar as text. */
const asText = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asText);
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asText(item)] as const));
};

/** Logical ids of the resources that a template value refers to. */
const referencesIn = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, argument]) => {
    if (key === 'Ref') return [String(argument)];
    if (key === 'Fn::GetAtt' && Array.isArray(argument)) return [String(argument[0])];
    return referencesIn(argument);
  });
};

/** A resource that was created or updated in this start. */
interface Change {
  resource: StackResource;
  properties: Properties;
  previous: KeptResource | undefined;
  /** Absent when its function failed. */
  physicalResourceId?: string;
}

/**
 * Creates the stack's custom resources as CloudFormation does, each after those it refers to. A resource of an earlier start is updated
 * if its properties changed, else left alone. Then removes those that were replaced or left the template.
 *
 * Rejects when a function fails, refuses, or does not answer in time, once the changes of this start are rolled back, the last first.
 */
export const provisionCustomResources = async (options: CustomResourcesOptions): Promise<void> => {
  const { resolver, customResources, invoke, stateFile, timeoutMilliseconds = 15_000 } = options;
  const kept: Record<string, KeptResource> = existsSync(stateFile)
    ? JSON.parse(readFileSync(stateFile, 'utf8'))
    : {};
  const pending = new Map(
    resolver
      .resources()
      .filter(({ definition }) => isCustomResource(definition))
      .map((resource) => [resource.logicalId, resource] as const),
  );
  const gone = Object.keys(kept).filter((logicalId) => !pending.has(logicalId));
  if (pending.size === 0 && gone.length === 0) return;

  const save = () => {
    writeFileSync(`${stateFile}.new`, JSON.stringify(kept, null, 2), { mode: 0o600 });
    renameSync(`${stateFile}.new`, stateFile);
  };
  const keep = (logicalId: string, resource: KeptResource | undefined) => {
    if (resource) kept[logicalId] = resource;
    else delete kept[logicalId];
    save();
  };
  const calls = await openResourceCalls(invoke, timeoutMilliseconds);
  const stackId = resolver.resolve({ Ref: 'AWS::StackId' });
  const changes: Change[] = [];

  const provision = async (resource: StackResource): Promise<void> => {
    const { logicalId, type, properties, definition } = resource;
    if (!pending.delete(logicalId)) return;
    const before = [...referencesIn(properties), ...[definition.DependsOn ?? []].flat()];
    for (const id of before) {
      const dependency = pending.get(id);
      if (dependency) await provision(dependency);
    }
    const resolved = asText(resolver.resolve(properties)) as Properties;
    const previous = kept[logicalId];
    if (previous && isDeepStrictEqual(previous.properties, resolved)) {
      const { physicalResourceId, data } = previous;
      customResources.set(logicalId, { physicalResourceId, data });
      return;
    }
    const change: Change = { resource, properties: resolved, previous };
    changes.push(change);
    const answer = await calls.call(
      { logicalId, type, stackId },
      previous
        ? {
            RequestType: 'Update',
            properties: resolved,
            oldProperties: previous.properties,
            physicalResourceId: previous.physicalResourceId,
          }
        : { RequestType: 'Create', properties: resolved },
    );
    const physicalResourceId = answer.PhysicalResourceId ?? previous?.physicalResourceId ?? logicalId;
    change.physicalResourceId = physicalResourceId;
    const state = { physicalResourceId, data: answer.Data ?? {} };
    customResources.set(logicalId, state);
    keep(logicalId, { ...state, type, properties: resolved });
  };

  /** Removes what CloudFormation removes once everything else is done. As there, a failure ends nothing. */
  const cleanUp = async (
    logicalId: string,
    { type = 'Custom::Unknown', properties, physicalResourceId }: Omit<KeptResource, 'data'>,
  ): Promise<void> => {
    try {
      const request = { RequestType: 'Delete', properties, physicalResourceId } as const;
      await calls.call({ logicalId, type, stackId }, request);
    } catch (error) {
      console.error(`[cloudformation] ${physicalResourceId} was not removed:`, error);
    }
  };

  /**
   * Gives an updated resource its old properties. Returns the removal of the replacement, when the update had
   * replaced the resource.
   */
  const undoUpdate = async (change: Change, previous: KeptResource): Promise<(() => Promise<void>)[]> => {
    const { logicalId, type } = change.resource;
    const current = change.physicalResourceId ?? previous.physicalResourceId;
    const answer = await calls.call(
      { logicalId, type, stackId },
      {
        RequestType: 'Update',
        properties: previous.properties,
        oldProperties: change.properties,
        physicalResourceId: current,
      },
    );
    const physicalResourceId = answer.PhysicalResourceId ?? current;
    keep(logicalId, { ...previous, physicalResourceId });
    if (physicalResourceId === current) return [];
    return [() => cleanUp(logicalId, { type, properties: change.properties, physicalResourceId: current })];
  };

  const undoCreation = async ({ resource, properties, physicalResourceId }: Change): Promise<void> => {
    const { logicalId, type } = resource;
    await calls.call(
      { logicalId, type, stackId },
      { RequestType: 'Delete', properties, physicalResourceId: physicalResourceId ?? logicalId },
    );
    keep(logicalId, undefined);
  };

  /** Undoes all changes, the last first: updates, and then what the changes created. Returns the errors. */
  const rollBack = async (): Promise<unknown[]> => {
    const problems: unknown[] = [];
    const removals: (() => Promise<void>)[] = [];
    for (const change of changes.toReversed()) {
      if (!change.previous) removals.push(() => undoCreation(change));
      else
        await undoUpdate(change, change.previous).then(
          (leftOver) => removals.push(...leftOver),
          (problem: unknown) => problems.push(problem),
        );
    }
    for (const remove of removals) await remove().catch((problem: unknown) => problems.push(problem));
    return problems;
  };

  try {
    for (const resource of [...pending.values()]) await provision(resource);
    for (const { resource, previous, physicalResourceId } of changes) {
      if (previous && previous.physicalResourceId !== physicalResourceId)
        await cleanUp(resource.logicalId, { type: resource.type, ...previous });
    }
    for (const logicalId of gone.toReversed()) {
      await cleanUp(logicalId, kept[logicalId] as KeptResource);
      keep(logicalId, undefined);
    }
  } catch (error) {
    const problems = await rollBack();
    if (problems.length === 0) throw error;
    throw new AggregateError(
      [error, ...problems],
      `${(error as Error).message}; nor could all be rolled back`,
    );
  } finally {
    calls.close();
  }
};
