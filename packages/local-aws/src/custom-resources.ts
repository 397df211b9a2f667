import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
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
  properties: Record<string, unknown>;
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
 */
export const provisionCustomResources = async (options: CustomResourcesOptions): Promise<void> => {
  const { resolver, customResources, invoke, stateFile, timeoutMilliseconds = 15_000 } = options;
  const pending = new Map(
    resolver
      .resources()
      .filter(({ definition }) => isCustomResource(definition))
      .map((resource) => [resource.logicalId, resource] as const),
  );
  if (pending.size === 0) return;

  const kept: Record<string, KeptResource> = existsSync(stateFile)
    ? JSON.parse(readFileSync(stateFile, 'utf8'))
    : {};
  const keep = (logicalId: string, resource: KeptResource) => {
    kept[logicalId] = resource;
    writeFileSync(`${stateFile}.new`, JSON.stringify(kept, null, 2), { mode: 0o600 });
    renameSync(`${stateFile}.new`, stateFile);
  };
  const server = await startResponseServer();

  const run = async (
    { logicalId, type, properties }: StackResource,
    resolved: Record<string, unknown>,
    previous: KeptResource | undefined,
  ): Promise<CustomResourceState> => {
    const { url, response } = server.expect();
    const failed = (reason: unknown) => new Error(`Custom resource ${logicalId} (${type}) failed: ${reason}`);
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(failed(`no answer within ${timeoutMilliseconds / 1000} s`)),
      timeoutMilliseconds,
    );
    const invocation = invoke(resolver.text(properties.ServiceToken), {
      RequestType: previous ? 'Update' : 'Create',
      ResponseURL: url,
      StackId: resolver.resolve({ Ref: 'AWS::StackId' }),
      RequestId: randomUUID(),
      LogicalResourceId: logicalId,
      ResourceType: type,
      ResourceProperties: resolved,
      ...(previous && {
        PhysicalResourceId: previous.physicalResourceId,
        OldResourceProperties: previous.properties,
      }),
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
    const { logicalId, properties, definition } = resource;
    if (!pending.delete(logicalId)) return;
    const before = [...referencesIn(properties), ...[definition.DependsOn ?? []].flat()];
    for (const id of before) {
      const dependency = pending.get(id);
      if (dependency) await provision(dependency);
    }
    const resolved = asText(resolver.resolve(properties)) as Record<string, unknown>;
    const previous = kept[logicalId];
    const state =
      previous && isDeepStrictEqual(previous.properties, resolved)
        ? previous
        : await run(resource, resolved, previous);
    customResources.set(logicalId, { physicalResourceId: state.physicalResourceId, data: state.data });
    if (state !== previous) keep(logicalId, { ...state, properties: resolved });
  };

  try {
    for (const resource of [...pending.values()]) await provision(resource);
  } finally {
    server.close();
  }
};
