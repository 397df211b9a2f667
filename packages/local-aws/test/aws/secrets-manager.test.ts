import { statSync } from 'node:fs';
import { join } from 'node:path';
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
} from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from '@jest/globals';
import {
  allow,
  aPrincipal,
  clientsOf,
  endpointOptions,
  NO_TABLES,
  rejectionOf,
  removeDirectory,
  secret,
  secretArn,
  startEndpoint,
} from './support.ts';
import { useEndpoint } from './use-endpoint.ts';

const options = endpointOptions({
  ...NO_TABLES,
  secrets: [secret('signing-key'), secret('provider-key', 'initial')],
});
const endpoint = useEndpoint(options);

describe('secrets', () => {
  test('a secret without a version can be described, not read', async () => {
    const { secrets } = clientsOf(endpoint);

    const described = await secrets.send(new DescribeSecretCommand({ SecretId: 'signing-key' }));
    const read = secrets.send(new GetSecretValueCommand({ SecretId: secretArn('signing-key') }));

    expect(described).toMatchObject({ ARN: secretArn('signing-key'), Name: 'signing-key' });
    expect(described.VersionIdsToStages).toBeUndefined();
    expect(await rejectionOf(read)).toMatchObject({
      name: 'ResourceNotFoundException',
      message: "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT",
    });
    expect(endpoint.readSecret('signing-key')).toBeUndefined();
  });

  test('a new value becomes AWSCURRENT, and the old one AWSPREVIOUS', async () => {
    const { secrets } = clientsOf(endpoint);

    const { VersionId } = await secrets.send(
      new PutSecretValueCommand({ SecretId: 'provider-key', SecretString: 'changed' }),
    );

    const read = (VersionStage?: string) =>
      secrets.send(new GetSecretValueCommand({ SecretId: 'provider-key', VersionStage }));
    expect(await read()).toMatchObject({ SecretString: 'changed', VersionId, CreatedDate: expect.any(Date) });
    expect(await read('AWSPREVIOUS')).toMatchObject({ SecretString: 'initial' });
    const described = await secrets.send(new DescribeSecretCommand({ SecretId: 'provider-key' }));
    expect(described.VersionIdsToStages?.[VersionId ?? '']).toEqual(['AWSCURRENT']);
    expect(endpoint.readSecret(secretArn('provider-key'))).toBe('changed');
  });

  test('a value must be text', async () => {
    const SecretBinary = Buffer.from([1]);
    const put = new PutSecretValueCommand({ SecretId: 'provider-key', SecretBinary });

    expect((await rejectionOf(clientsOf(endpoint).secrets.send(put))).name).toBe('InvalidRequestException');
  });

  test('the same request token with another value is refused', async () => {
    const { secrets } = clientsOf(endpoint);
    const put = (SecretString: string) =>
      secrets.send(
        new PutSecretValueCommand({
          SecretId: 'provider-key',
          SecretString,
          ClientRequestToken: '11111111-1111-1111-1111-111111111111',
        }),
      );
    await put('one');
    await put('one');

    expect((await rejectionOf(put('two'))).name).toBe('ResourceExistsException');
  });

  test('reading needs the action on the secret', async () => {
    const reader = aPrincipal(
      'secretreader',
      allow(['secretsmanager:GetSecretValue'], secretArn('provider-key')),
    );
    endpoint.addPrincipals([reader]);
    const { secrets } = clientsOf(endpoint, reader);

    await secrets.send(new GetSecretValueCommand({ SecretId: 'provider-key' }));
    const other = secrets.send(new GetSecretValueCommand({ SecretId: 'signing-key' }));

    expect((await rejectionOf(other)).name).toBe('AccessDeniedException');
  });

  test('a generated value is kept from the first start', async () => {
    const drawn = endpointOptions({ ...NO_TABLES, secrets: [secret('drawn', 'first')] });
    await (await startEndpoint(drawn)).close();

    const second = await startEndpoint({ ...drawn, secrets: [secret('drawn', 'second')] });

    expect(second.readSecret('drawn')).toBe('first');
    await second.close();
    removeDirectory(drawn.dataDir);
  });

  test('the values are in a file that only its owner can read', () => {
    expect(statSync(join(options.dataDir, 'secrets.json')).mode & 0o777).toBe(0o600);
  });
});
