import { mkdtempSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { FUNCTION_CODE, SYNTHESES_URL } from './service-template.ts';

/** Holds the server and its folder between set-up and teardown: one process, two module graphs. */
export const held = globalThis as { infraSyntheses?: { server: Server; folder: string } };

/**
 * Starts the server that synthesizes for all infra tests, and bundles the code that some read. Loading the CDK is most of what a synthesis
 * takes, and jest would load it again for every file.
 */
export default async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'generation-service-'));
  /** As JSON, by what was asked. */
  const answers = new Map<string, string>();
  const answer = async (asked: string): Promise<string> => {
    const [{ synthesizeIn }, { bundleCode }] = await Promise.all([
      import('./synthesis.ts'),
      import('./bundled-code.ts'),
    ]);
    const known = answers.get(asked);
    if (known !== undefined) return known;
    const made = JSON.stringify(
      asked === FUNCTION_CODE ? bundleCode() : synthesizeIn(folder, overridesOf(asked)),
    );
    answers.set(asked, made);
    return made;
  };
  const server = createServer((request, response) => {
    // A synthesis blocks this process: idle connections would run out meanwhile, and be reset when they are used.
    response.setHeader('Connection', 'close');
    text(request)
      .then(answer)
      .then(
        (made) => response.end(made),
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
