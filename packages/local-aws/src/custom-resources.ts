import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { openResourceCalls, type Properties, type ResourceCalls } from './custom-resource-calls.ts';
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

const readKept = (stateFile: string): Record<string, KeptResource> =>
  existsSync(stateFile) ? JSON.parse(readFileSync(stateFile, 'utf8')) : {};

/** What one start does to the custom resources, and how it is undone. */
class Provisioning {
  private readonly options: CustomResourcesOptions;
  private readonly calls: ResourceCalls;
  private readonly kept: Record<string, KeptResource>;
  private readonly pending: Map<string, StackResource>;
  private readonly stackId: unknown;
  /** The changes of this start, in order. */
  private readonly changes: Change[] = [];

  constructor(
    options: CustomResourcesOptions,
    calls: ResourceCalls,
    kept: Record<string, KeptResource>,
    pending: Map<string, StackResource>,
  ) {
    this.options = options;
    this.calls = calls;
    this.kept = kept;
    this.pending = pending;
    this.stackId = options.resolver.resolve({ Ref: 'AWS::StackId' });
  }

  /** Creates and updates all resources. */
  async provisionAll(): Promise<void> {
    for (const resource of [...this.pending.values()]) await this.provision(resource);
  }

  /** Removes resources that an update replaced, and the resources `gone` from the template. */
  async removeOld(gone: readonly string[]): Promise<void> {
    for (const { resource, previous, physicalResourceId } of this.changes) {
      if (previous && previous.physicalResourceId !== physicalResourceId)
        await this.cleanUp(resource.logicalId, { type: resource.type, ...previous });
    }
    for (const logicalId of gone.toReversed()) {
      await this.cleanUp(logicalId, this.kept[logicalId] as KeptResource);
      this.keep(logicalId, undefined);
    }
  }

  /** Undoes all changes, the last first: updates, and then what the changes created. Returns the errors. */
  async rollBack(): Promise<unknown[]> {
    const problems: unknown[] = [];
    const removals: (() => Promise<void>)[] = [];
    for (const change of this.changes.toReversed()) {
      if (!change.previous) removals.push(() => this.undoCreation(change));
      else
        await this.undoUpdate(change, change.previous).then(
          (leftOver) => removals.push(...leftOver),
          (problem: unknown) => problems.push(problem),
        );
    }
    for (const remove of removals) await remove().catch((problem: unknown) => problems.push(problem));
    return problems;
  }

  /** Creates or updates a resource, once the resources that it refers to are ready. */
  private async provision(resource: StackResource): Promise<void> {
    const { logicalId, properties, definition } = resource;
    if (!this.pending.delete(logicalId)) return;
    for (const id of [...referencesIn(properties), ...[definition.DependsOn ?? []].flat()]) {
      const dependency = this.pending.get(id);
      if (dependency) await this.provision(dependency);
    }
    const resolved = asText(this.options.resolver.resolve(properties)) as Properties;
    const previous = this.kept[logicalId];
    if (previous && isDeepStrictEqual(previous.properties, resolved)) {
      const { physicalResourceId, data } = previous;
      this.options.customResources.set(logicalId, { physicalResourceId, data });
      return;
    }
    await this.change({ resource, properties: resolved, previous });
  }

  private async change(change: Change): Promise<void> {
    const { resource, properties, previous } = change;
    const { logicalId, type } = resource;
    this.changes.push(change);
    const answer = await this.calls.call(
      { logicalId, type, stackId: this.stackId },
      previous
        ? {
            RequestType: 'Update',
            properties,
            oldProperties: previous.properties,
            physicalResourceId: previous.physicalResourceId,
          }
        : { RequestType: 'Create', properties },
    );
    const physicalResourceId = answer.PhysicalResourceId ?? previous?.physicalResourceId ?? logicalId;
    change.physicalResourceId = physicalResourceId;
    const state = { physicalResourceId, data: answer.Data ?? {} };
    this.options.customResources.set(logicalId, state);
    this.keep(logicalId, { ...state, type, properties });
  }

  /** Removes what CloudFormation removes once everything else is done. As there, a failure ends nothing. */
  private async cleanUp(
    logicalId: string,
    { type = 'Custom::Unknown', properties, physicalResourceId }: Omit<KeptResource, 'data'>,
  ): Promise<void> {
    try {
      const request = { RequestType: 'Delete', properties, physicalResourceId } as const;
      await this.calls.call({ logicalId, type, stackId: this.stackId }, request);
    } catch (error) {
      console.error(`[cloudformation] ${physicalResourceId} was not removed:`, error);
    }
  }

  /**
   * Gives an updated resource its old properties. Returns the removal of the replacement, when the update had
   * replaced the resource.
   */
  private async undoUpdate(change: Change, previous: KeptResource): Promise<(() => Promise<void>)[]> {
    const { logicalId, type } = change.resource;
    const current = change.physicalResourceId ?? previous.physicalResourceId;
    const answer = await this.calls.call(
      { logicalId, type, stackId: this.stackId },
      {
        RequestType: 'Update',
        properties: previous.properties,
        oldProperties: change.properties,
        physicalResourceId: current,
      },
    );
    const physicalResourceId = answer.PhysicalResourceId ?? current;
    this.keep(logicalId, { ...previous, physicalResourceId });
    if (physicalResourceId === current) return [];
    return [
      () => this.cleanUp(logicalId, { type, properties: change.properties, physicalResourceId: current }),
    ];
  }

  private async undoCreation({ resource, properties, physicalResourceId }: Change): Promise<void> {
    const { logicalId, type } = resource;
    await this.calls.call(
      { logicalId, type, stackId: this.stackId },
      { RequestType: 'Delete', properties, physicalResourceId: physicalResourceId ?? logicalId },
    );
    this.keep(logicalId, undefined);
  }

  private keep(logicalId: string, resource: KeptResource | undefined): void {
    const { stateFile } = this.options;
    if (resource) this.kept[logicalId] = resource;
    else delete this.kept[logicalId];
    writeFileSync(`${stateFile}.new`, JSON.stringify(this.kept, null, 2), { mode: 0o600 });
    renameSync(`${stateFile}.new`, stateFile);
  }
}

/**
 * Creates the stack's custom resources as CloudFormation does, each after the resources that it refers to. A resource
 * of an earlier start is updated if its properties changed, else left alone. Removes resources that were replaced or
 * left the template, last.
 *
 * Rejects when a function fails, refuses, or does not answer in time, once the changes of this start are rolled back,
 * the last first.
 */
export const provisionCustomResources = async (options: CustomResourcesOptions): Promise<void> => {
  const { resolver, invoke, stateFile, timeoutMilliseconds = 15_000 } = options;
  const kept = readKept(stateFile);
  const pending = new Map(
    resolver
      .resources()
      .filter(({ definition }) => isCustomResource(definition))
      .map((resource) => [resource.logicalId, resource] as const),
  );
  const gone = Object.keys(kept).filter((logicalId) => !pending.has(logicalId));
  if (pending.size === 0 && gone.length === 0) return;

  const calls = await openResourceCalls(invoke, timeoutMilliseconds);
  const provisioning = new Provisioning(options, calls, kept, pending);
  try {
    await provisioning.provisionAll();
    await provisioning.removeOld(gone);
  } catch (error) {
    const problems = await provisioning.rollBack();
    if (problems.length === 0) throw error;
    throw new AggregateError(
      [error, ...problems],
      `${(error as Error).message}; nor could all be rolled back`,
    );
  } finally {
    calls.close();
  }
};
