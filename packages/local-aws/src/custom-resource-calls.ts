import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { InvokeFunction } from './types.ts';

/** Properties as CloudFormation passes them. */
export type Properties = Record<string, unknown>;

/** What CloudFormation wants of a custom resource. */
export type ResourceRequest =
  | { RequestType: 'Create'; properties: Properties }
  | { RequestType: 'Update'; properties: Properties; oldProperties: Properties; physicalResourceId: string }
  | { RequestType: 'Delete'; properties: Properties; physicalResourceId: string };

/** A custom resource, as its function knows it. */
export interface CalledResource {
  logicalId: string;
  type: string;
  stackId: unknown;
}

/** The answer of a function. */
export interface ResourceResponse {
  Status: 'SUCCESS' | 'FAILED';
  Reason?: string;
  PhysicalResourceId?: string;
  Data?: Record<string, unknown>;
}

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

/** Calls the functions of custom resources. */
export interface ResourceCalls {
  /** Sends a request to the function that its properties name. Rejects when the function fails, refuses, or does not answer in time. */
  call(resource: CalledResource, request: ResourceRequest): Promise<ResourceResponse>;
  close(): void;
}

/** Opens the server for the functions' answers. */
export const openResourceCalls = async (
  invoke: InvokeFunction,
  timeoutMilliseconds: number,
): Promise<ResourceCalls> => {
  const server = await startResponseServer();
  const call: ResourceCalls['call'] = async ({ logicalId, type, stackId }, request) => {
    const { url, response } = server.expect();
    const failed = (reason: unknown) => new Error(`Custom resource ${logicalId} (${type}) failed: ${reason}`);
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(failed(`no answer within ${timeoutMilliseconds / 1000} s`)),
      timeoutMilliseconds,
    );
    const { RequestType, properties } = request;
    const invocation = invoke(String(properties.ServiceToken), {
      RequestType,
      ResponseURL: url,
      StackId: stackId,
      RequestId: randomUUID(),
      LogicalResourceId: logicalId,
      ResourceType: type,
      ResourceProperties: properties,
      ...('physicalResourceId' in request && { PhysicalResourceId: request.physicalResourceId }),
      ...('oldProperties' in request && { OldResourceProperties: request.oldProperties }),
    }).then((result) => {
      // A failed function will not answer; its error says more than a timeout.
      if (result.functionError) throw failed(JSON.stringify(result.payload));
      return response;
    });
    try {
      const answer = await Promise.race([response, invocation, timeout]);
      if (answer.Status !== 'SUCCESS') throw failed(answer.Reason ?? 'no reason given');
      return answer;
    } finally {
      clearTimeout(timer);
      invocation.catch(() => undefined);
    }
  };
  return { call, close: server.close };
};
