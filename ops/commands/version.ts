import { readFileSync } from 'node:fs';
import { formatFields, type Result } from '../output.ts';
import { type Target, TargetError } from '../target.ts';
import type { Verb } from '../verb.ts';

/** The version of this command line. */
const { version: ownVersion }: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

/** `version`. Prints the command line's own version even when there is no service to ask. */
export const versionVerb: Verb<object> = async (_options, connected) => {
  try {
    return resultOf(await connected());
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    return { ...resultOf(undefined), failure: error.message };
  }
};

const resultOf = (target: Target | undefined): Result => {
  const service = target && (target.stackName === undefined ? 'local run' : `stack ${target.stackName}`);
  const { Version: version, Commit: commit } = target?.outputs ?? {};
  return {
    value: {
      commandLine: ownVersion,
      service: service ?? null,
      version: version ?? null,
      commit: commit ?? null,
    },
    text: (columns) =>
      formatFields(
        {
          'command line': ownVersion,
          ...(service && { [service]: version ?? 'not reported' }),
          ...(commit && { commit }),
        },
        columns,
      ),
  };
};
