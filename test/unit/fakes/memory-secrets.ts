import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { serveCommands } from './serve-commands.ts';

interface Version {
  text: string | undefined;
  createdAt: Date;
}

/** Secrets in memory behind every Secrets Manager client, by ARN. An undefined text means a secret without a value. */
export class MemorySecrets {
  readonly client = mockClient(SecretsManagerClient);
  private readonly versions = new Map<string, { current: Version; previous: Version | undefined }>();

  /** Puts a value; the current one becomes the previous one. */
  set(arn: string, text: string | undefined, createdAt = new Date(0)): void {
    this.versions.set(arn, { current: { text, createdAt }, previous: this.versions.get(arn)?.current });
  }

  /** Clears everything for the next test. */
  reset(): void {
    this.versions.clear();
    this.client.reset();
    serveCommands(this.client, [
      [
        DescribeSecretCommand,
        ({ SecretId }) => ({
          ARN: SecretId,
          ...(this.versions.get(SecretId)?.current.text === undefined
            ? {}
            : { VersionIdsToStages: { v1: ['AWSCURRENT'] } }),
        }),
      ],
      [
        GetSecretValueCommand,
        ({ SecretId, VersionStage }) => {
          const { current, previous } = this.versions.get(SecretId) ?? {};
          const found = VersionStage === 'AWSPREVIOUS' ? previous : current;
          if (found?.text === undefined) {
            throw Object.assign(new Error('There is no value.'), { name: 'ResourceNotFoundException' });
          }
          return { SecretString: found.text, CreatedDate: found.createdAt };
        },
      ],
    ]);
  }

  /** The number of calls by command and ARN. */
  reads(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { args } of this.client.calls()) {
      const { SecretId } = args[0].input as { SecretId: string };
      const name = `${args[0].constructor.name.replace('Command', '')} ${SecretId}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }
}
