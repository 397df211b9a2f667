import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Synthesizes the fixture stack into `directory`, in a child process. */
export const synthesizeFixture = (directory: string, context: Record<string, unknown> = {}): void => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('./fixtures/stack.ts', import.meta.url))],
    {
      env: {
        ...process.env,
        CDK_OUTDIR: directory,
        CDK_CONTEXT_JSON: JSON.stringify(context),
        CDK_VALIDATION: 'false',
      },
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(stderr);
};
