import type { ServerResponse } from 'node:http';
import { afterAll, beforeEach } from '@jest/globals';
import { measureInputs } from '../../../../core/creation/measure-inputs.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { MemoryBucket } from '../../fakes/memory-bucket.ts';
import { LoopbackServer, type ReceivedRequest } from '../../servers/loopback-server.ts';

/** The problem of a file whose server does not answer. */
export const NO_ANSWER = 'could not be fetched: the file server did not answer';

/** An answer of the server to one request. */
export type Serve = (request: ReceivedRequest, response: ServerResponse) => void;

/** The server that files are fetched from. */
export const server = await new LoopbackServer().start();

/** The bucket that copies go to. Each test begins with an empty one. */
export const bucket = new MemoryBucket();

beforeEach(() => {
  server.reset();
  bucket.reset();
});

afterAll(() => server.close());

/** An answer that is the whole file. */
export const whole =
  (file: Buffer, headers: Record<string, string> = {}): Serve =>
  (_, response) =>
    response.writeHead(200, headers).end(file);

/** Routes of the server, for one test. */
export const serve = (routes: Record<string, Serve>) => {
  server.respond = (request, response) => {
    const route = routes[request.path];
    if (route) route(request, response);
    else response.writeHead(404).end();
  };
};

/** The measures of files. The server is a private target, so private targets are allowed. */
export const measureFiles = (files: Parameters<typeof measureInputs>[0]['files'], signal?: AbortSignal) =>
  withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, () =>
    measureInputs({ requestId: 'vid_1', files, longestSeconds: 15 }, signal),
  );

/** Never aborts: a busy machine may take longer than the time limit of a creation. */
export const UNHURRIED = new AbortController().signal;

/** What is measured of reference videos at URLs, or at paths of the server. */
export const measure = (urls: string[], signal = UNHURRIED) =>
  measureFiles(
    urls.map((url) => ({ medium: 'video', url: url.startsWith('/') ? server.url + url : url })),
    signal,
  );

/** What is measured of one reference video. */
export const measureOne = async (route: Serve, signal?: AbortSignal) => {
  serve({ '/a': route });
  const [measured] = await measure(['/a'], signal);
  return measured;
};

/** What is in the bucket: each key with its content type and bytes. */
export const stored = () =>
  Object.fromEntries([...bucket.objects].map(([key, { contentType, bytes }]) => [key, [contentType, bytes]]));
