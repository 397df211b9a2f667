import { mkdtempSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SYNTHESES_URL } from './service-template.ts';

/** Holds the server and its folder between set-up and teardown: one process, two module graphs. */
export const held = globalThis as { infraSyntheses?: { server: Server; folder: string } };

/**
 * Starts the server that synthesizes for all infra tests. Loading the CDK is most of what a synthesis takes, and jest would load it again
 * for every file.
 */
export default async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'generation-service-'));
  /** As JSON, by context. */
  const templates = new Map<string, string>();
  const synthesizeOnce = async (entries: string): Promise<string> => {
    const { synthesizeIn } = await import('./synthesis.ts');
    const template = templates.get(entries) ?? JSON.stringify(synthesizeIn(folder, overridesOf(entries)));
    templates.set(entries, template);
    return template;
  };
  const server = createServer((request, response) => {
    // A synthesis blocks this process: idle connections would run out meanwhile, and be reset when they are used.
    response.setHeader('Connection', 'close');
    text(request)
      .then(synthesizeOnce)
      .then(
        (template) => response.end(template),
        (error) => response.writeHead(500).end(String(error)),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  held.infraSyntheses = { server, folder };
  process.env[SYNTHESES_URL] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** JSON has no undefined: no context value is null otherwise. */
const overridesOf = (entries: string): Record<string, unknown> =>
  Object.fromEntries(
    (JSON.parse(entries) as [string, unknown][]).map(([key, value]) => [
      key,
      value === null ? undefined : value,
    ]),
  );
