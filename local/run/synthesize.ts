import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT, runScript } from './child.ts';

/** CDK context by key. On the command line every value is text. */
export type Context = Record<string, unknown>;

/** The context that `cdk.json` sets. */
export const projectContext = (): Context => {
  const file = join(PROJECT_ROOT, 'cdk.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')).context ?? {}) : {};
};

/**
 * Nobody deploys what is synthesized here, and checking it against the rules for what is deployed would take three
 * quarters of the start: `npm run synth` does.
 */
const UNCHECKED: Context = { '@aws-cdk/core:validateAgainstDefaultRules': false };

/**
 * Synthesizes the CDK app into `outputDirectory`. `context` is merged over that of `cdk.json`. Rejects with what the app said when it
 * fails.
 */
export const synthesize = async (
  outputDirectory: string,
  context: Context,
  signal?: AbortSignal,
): Promise<void> => {
  // Bundles of earlier starts would pile up.
  rmSync(outputDirectory, { recursive: true, force: true });
  await runScript(join('bin', 'app.ts'), [], {
    environment: {
      CDK_OUTDIR: outputDirectory,
      CDK_CONTEXT_JSON: JSON.stringify({ ...projectContext(), ...UNCHECKED, ...context }),
    },
    signal,
  });
  // As in Lambda, a bundle's own syntax says what it is, and not the package the data directory may lie in.
  writeFileSync(join(outputDirectory, 'package.json'), '{}\n');
};
