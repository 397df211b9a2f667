import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT, runScript } from './child.ts';
import type { Route } from './provider-keys.ts';

/** CDK context by key. Values from the command line are text. */
export type Context = Record<string, unknown>;

/** The context in `cdk.json`. */
export const projectContext = (): Context => {
  const file = join(PROJECT_ROOT, 'cdk.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')).context ?? {}) : {};
};

/** The model routes in `cdk.json`. */
export const projectRoutes = (): Record<string, Route | Route[]> =>
  (projectContext().modelRoutes as Record<string, Route | Route[]> | undefined) ?? {};

/**
 * Skips CDK's checks of the template: they take two thirds of a synthesis, and `npm run synth` runs them before anything
 * is deployed.
 */
const UNCHECKED = { CDK_VALIDATION: 'false' };

/**
 * Synthesizes the CDK app into `outputDirectory`. `context` wins over `cdk.json`. Rejects with the app's error when it fails.
 */
export const synthesize = async (
  outputDirectory: string,
  context: Context,
  signal?: AbortSignal,
): Promise<void> => {
  // Remove the bundles of earlier starts.
  rmSync(outputDirectory, { recursive: true, force: true });
  await runScript(join('bin', 'app.ts'), [], {
    environment: {
      CDK_OUTDIR: outputDirectory,
      CDK_CONTEXT_JSON: JSON.stringify({ ...projectContext(), ...context }),
      ...UNCHECKED,
    },
    signal,
  });
  // As in Lambda, a bundle's syntax decides its module type, not a package around the data directory.
  writeFileSync(join(outputDirectory, 'package.json'), '{}\n');
};
