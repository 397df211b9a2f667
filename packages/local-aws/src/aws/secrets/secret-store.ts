import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { SecretSpec } from '../../types.ts';
import { AwsError, systemCodeOf } from '../errors.ts';
import { replaceFile } from '../write-file.ts';

/** A stored version. */
export interface SecretVersion {
  text: string;
  createdAt: string;
  stages: string[];
}

/** The values of the stack's secrets, in one file. */
export interface SecretStore {
  /** The secret of this name, ARN, or ARN without its random suffix. */
  find(nameOrArn: string): SecretSpec | undefined;
  versions(secret: SecretSpec): Record<string, SecretVersion>;
  /** Adds a version and moves `stages` to it; AWSCURRENT's old version becomes AWSPREVIOUS. The same id and value change nothing. Throws `ResourceExistsException`. */
  put(secret: SecretSpec, versionId: string, text: string, stages: string[]): void;
}

type StoredSecrets = Record<string, Record<string, SecretVersion>>;

const load = (file: string): StoredSecrets => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return {};
    throw error;
  }
};

/** Opens the store and gives empty secrets their `initialValue`. Values persist across starts by the secret's name. */
export const openSecretStore = (file: string, secrets: SecretSpec[]): SecretStore => {
  const stored = load(file);
  const save = () => replaceFile(file, `${JSON.stringify(stored, undefined, 2)}\n`);

  const store: SecretStore = {
    find: (nameOrArn) =>
      secrets.find(
        ({ name, arn }) =>
          name === nameOrArn || arn === nameOrArn || arn.replace(/-[A-Za-z0-9]{6}$/, '') === nameOrArn,
      ),
    versions: ({ name }) => stored[name] ?? {},
    put(secret, versionId, text, stages) {
      stored[secret.name] ??= {};
      const versions = stored[secret.name] ?? {};
      const existing = versions[versionId];
      if (existing) {
        if (existing.text === text) return;
        throw new AwsError(
          'ResourceExistsException',
          `A resource with the ID you requested already exists. Version ${versionId} has another value.`,
        );
      }
      for (const version of Object.values(versions)) {
        const wasCurrent = version.stages.includes('AWSCURRENT') && stages.includes('AWSCURRENT');
        const kept = version.stages.filter(
          (stage) => !stages.includes(stage) && (stage !== 'AWSPREVIOUS' || !stages.includes('AWSCURRENT')),
        );
        version.stages = wasCurrent ? [...kept, 'AWSPREVIOUS'] : kept;
      }
      versions[versionId] = { text, createdAt: new Date().toISOString(), stages };
      // Versions without a stage are deprecated.
      for (const [id, version] of Object.entries(versions))
        if (version.stages.length === 0) delete versions[id];
      save();
    },
  };

  for (const secret of secrets) {
    if (secret.initialValue !== undefined && Object.keys(store.versions(secret)).length === 0) {
      store.put(secret, randomUUID(), secret.initialValue, ['AWSCURRENT']);
    }
  }
  return store;
};
