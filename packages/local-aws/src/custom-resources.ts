import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from './aws/errors.ts';
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
  /** Absent in files of earlier versions. */
  type?: string;
  properties: Record<string, unknown>;
}

/** One event for a resource's function. */
interface Sent {
  requestType: 'Create' | 'Update' | 'Delete';
  logicalId: string;
  type: string;
  properties: Record<string, unknown>;
  previous?: KeptResource | undefined;
}

interface ResourceResponse {
  Status: 'SUCCESS' | 'FAILED';
  Reason?: string;
  PhysicalResourceId?: string;
  Data?: Record<string, unknown>;
}

/** CloudFormation passes every scalar as text. */
const asText = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asText);
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asText(item)] as const));
};

/** A server with one loopback URL per event; the function PUTs its answer there. */
const startResponseServer = async () => {
  const waiting = new Map<string, (response: ResourceResponse) => void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const resolve = waiting.get(request.url ?? '');
    if (request.method !== 'PUT' || !resolve) {
      response.writeHead(403).end();
      return;
    }
    response.writeHead(200).end();
    try {
      resolve(JSON.parse(Buffer.concat(chunks).toString()));
    } catch {
      resolve({ Status: 'FAILED', Reason: 'its response is not JSON' });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    expect: () => {
      const path = `/${randomUUID()}`;
      const { promise, resolve } = Promise.withResolvers<ResourceResponse>();
      waiting.set(path, resolve);
      return { url: `http://127.0.0.1:${port}${path}`, response: promise };
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
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

/**
 * Creates the stack's custom resources as CloudFormation does, each after those it refers to. A resource of an earlier start is updated
 * if its properties changed, else left alone. Rejects when a function fails, refuses, or does not answer in time.
 *
 * Once all are made, deletes what an update left over: resources that left the template, and those whose function answered another
 * physical id. As in CloudFormation a deletion that fails, or whose function left the template too, is logged and given up.
 */
export const provisionCustomResources = async (options: CustomResourcesOptions): Promise<void> => {
  const { resolver, customResources, invoke, stateFile, timeoutMilliseconds = 15_000 } = options;
  const pending = new Map(
    resolver
      .resources()
      .filter(({ definition }) => isCustomResource(definition))
      .map((resource) => [resource.logicalId, resource] as const),
  );
  const kept: Record<string, KeptResource> = existsSync(stateFile)
    ? JSON.parse(readFileSync(stateFile, 'utf8'))
    : {};
  const removed = Object.keys(kept).filter((logicalId) => !pending.has(logicalId));
  if (pending.size + removed.length === 0) return;

  const write = () => {
    writeFileSync(`${stateFile}.new`, JSON.stringify(kept, null, 2), { mode: 0o600 });
    renameSync(`${stateFile}.new`, stateFile);
  };
  const leftOver: [logicalId: string, resource: KeptResource][] = removed.map((logicalId) => [
    logicalId,
    kept[logicalId] as KeptResource,
  ]);
  const server = await startResponseServer();

  const send = async ({
    requestType,
    logicalId,
    type,
    properties,
    previous,
  }: Sent): Promise<CustomResourceState> => {
    const { url, response } = server.expect();
    const failed = (reason: unknown) => new Error(`Custom resource ${logicalId} (${type}) failed: ${reason}`);
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(failed(`no answer within ${timeoutMilliseconds / 1000} s`)),
      timeoutMilliseconds,
    );
    const invocation = invoke(String(properties.ServiceToken), {
      RequestType: requestType,
      ResponseURL: url,
      StackId: resolver.resolve({ Ref: 'AWS::StackId' }),
      RequestId: randomUUID(),
      LogicalResourceId: logicalId,
      ResourceType: type,
      ResourceProperties: properties,
      ...(previous && { PhysicalResourceId: previous.physicalResourceId }),
      ...(requestType === 'Update' && { OldResourceProperties: previous?.properties }),
    }).then((result) => {
      // A failed function will not answer; its error says more than a timeout.
      if (result.functionError) throw failed(JSON.stringify(result.payload));
      return response;
    });
    try {
      const answer = await Promise.race([response, invocation, timeout]);
      if (answer.Status !== 'SUCCESS') throw failed(answer.Reason ?? 'no reason given');
      return {
        physicalResourceId: answer.PhysicalResourceId ?? previous?.physicalResourceId ?? logicalId,
        data: answer.Data ?? {},
      };
    } finally {
      clearTimeout(timer);
      invocation.catch(() => undefined);
    }
  };

  const provision = async (resource: StackResource): Promise<void> => {
    const { logicalId, type, properties, definition } = resource;
    if (!pending.delete(logicalId)) return;
    const before = [...referencesIn(properties), ...[definition.DependsOn ?? []].flat()];
    for (const id of before) {
      const dependency = pending.get(id);
      if (dependency) await provision(dependency);
    }
    const resolved = asText(resolver.resolve(properties)) as Record<string, unknown>;
    const previous = kept[logicalId];
    const isUnchanged = previous && isDeepStrictEqual(previous.properties, resolved);
    const state = isUnchanged
      ? previous
      : await send({
          ...{ requestType: previous ? 'Update' : 'Create', logicalId, type, previous },
          properties: resolved,
        });
    const { physicalResourceId, data } = state;
    customResources.set(logicalId, { physicalResourceId, data });
    if (isUnchanged) return;
    if (previous && previous.physicalResourceId !== physicalResourceId) leftOver.push([logicalId, previous]);
    kept[logicalId] = { physicalResourceId, data, type, properties: resolved };
    write();
  };

  const clean = async (): Promise<void> => {
    for (const [logicalId, previous] of leftOver) {
      const { type = 'AWS::CloudFormation::CustomResource', properties } = previous;
      try {
        await send({ requestType: 'Delete', logicalId, type, properties, previous });
      } catch (error) {
        console.error(`[custom resources] not deleted: ${messageOf(error)}`);
      }
    }
    for (const logicalId of removed) delete kept[logicalId];
    if (removed.length > 0) write();
  };

  try {
    for (const resource of [...pending.values()]) await provision(resource);
    await clean();
  } finally {
    server.close();
  }
};
