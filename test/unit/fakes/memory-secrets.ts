import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { serveCommands } from './serve-commands.ts';

/** Secrets in memory behind every Secrets Manager client, by ARN. An undefined text means a secret without a value. */
export class MemorySecrets {
  readonly client = mockClient(SecretsManagerClient);
  private readonly texts = new Map<string, string | undefined>();

  set(arn: string, text: string | undefined): void {
    this.texts.set(arn, text);
  }

  /** Clears everything for the next test. */
  reset(): void {
    this.texts.clear();
    this.client.reset();
    serveCommands(this.client, [
      [
        DescribeSecretCommand,
        ({ SecretId }) => ({
          ARN: SecretId,
          ...(this.texts.get(SecretId) === undefined ? {} : { VersionIdsToStages: { v1: ['AWSCURRENT'] } }),
        }),
      ],
      [
        GetSecretValueCommand,
        ({ SecretId }) => {
          const SecretString = this.texts.get(SecretId);
          if (SecretString === undefined) {
            throw Object.assign(new Error('There is no value.'), { name: 'ResourceNotFoundException' });
          }
          return { SecretString };
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
