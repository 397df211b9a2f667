import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { handler } from '../../../functions/events/create-signing-key.ts';
import { aLambdaContext } from '../builders/api-events.ts';
import { answer, aResourceEvent, cloudFormation, type RequestType } from '../builders/custom-resource.ts';
import { secrets } from '../fakes/fresh-secrets.ts';

beforeEach(() => {
  const versions = new Set<string>();
  secrets.client
    .on(PutSecretValueCommand)
    .callsFake(async ({ SecretId, SecretString, ClientRequestToken = '' }) => {
      if (versions.has(ClientRequestToken))
        throw Object.assign(new Error('It has another value.'), { name: 'ResourceExistsException' });
      versions.add(ClientRequestToken);
      secrets.set(SecretId, SecretString);
      return {};
    });
});

const run = (type: RequestType) =>
  handler(aResourceEvent(type, { SecretArn: 'arn:delivery-key' }), aLambdaContext());
const stored = () => secrets.client.commandCalls(PutSecretValueCommand).map(({ args }) => args[0].input);

describe('the delivery key pair', () => {
  test('is created with the stack: the public key is returned, the private key stored', async () => {
    await run('Create');

    expect(stored()).toMatchObject([{ SecretId: 'arn:delivery-key' }]);
    const privateKey = createPrivateKey(String(stored()[0]?.SecretString));
    expect(privateKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect(cloudFormation.requests).toMatchObject([{ method: 'PUT', path: '/answer?signature=x' }]);
    expect(answer()).toStrictEqual({
      StackId: 'stack-1',
      RequestId: 'request-1',
      LogicalResourceId: 'Resource',
      PhysicalResourceId: 'arn:delivery-key',
      Status: 'SUCCESS',
      Data: { PublicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString() },
    });
  });

  test.each(['Create', 'Update'] as const)(
    'is created once: a later %s returns the same key',
    async (type) => {
      await run('Create');
      const first = answer();
      await run(type);

      expect(answer()).toEqual(first);
      expect(stored()).toHaveLength(1);
    },
  );

  test('is one when Lambda runs the event twice at once: both return the stored one', async () => {
    await Promise.all([run('Create'), run('Create')]);

    const [one, other] = cloudFormation.requests.map(({ body }) => body);
    expect(one).toMatchObject({ Status: 'SUCCESS' });
    expect(other).toEqual(one);
  });

  test('needs no call when the stack is deleted', async () => {
    await run('Delete');

    expect(answer()).toMatchObject({ Status: 'SUCCESS', Data: {} });
    expect(secrets.client.calls()).toHaveLength(0);
  });

  test('answers again when the answer got lost, three times at most', async () => {
    cloudFormation.respond = (_, response) => {
      if (cloudFormation.requests.length < 3) response.destroy();
      else response.writeHead(200).end();
    };
    await run('Create');
    expect(cloudFormation.requests).toHaveLength(3);

    cloudFormation.reset();
    cloudFormation.respond = (_, response) => response.destroy();
    await expect(run('Create')).rejects.toThrow();
    expect(cloudFormation.requests).toHaveLength(3);
  });

  test('answers again when nothing is heard for 5 s', async () => {
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(AbortSignal.abort());
    await run('Create');

    expect(timeout.mock.calls).toEqual([[5_000], [5_000]]);
    expect(cloudFormation.requests).toHaveLength(1);
    timeout.mockRestore();
  });

  test('answers again when the answer was refused, and fails when no attempt was accepted', async () => {
    cloudFormation.respond = (_, response) =>
      response.writeHead(cloudFormation.requests.length < 3 ? 503 : 200).end();
    await run('Create');
    expect(cloudFormation.requests).toHaveLength(3);

    cloudFormation.reset();
    cloudFormation.answer(403, '');
    await expect(run('Create')).rejects.toThrow('refused with 403');
    expect(cloudFormation.requests).toHaveLength(3);
  });

  test.each([
    [200, 1],
    [204, 1],
    [299, 1],
    [300, 3],
    [403, 3],
    [500, 3],
  ])('is answered with %i after %i attempts: a success alone is one', async (status, attempts) => {
    cloudFormation.answer(status, '');
    await run('Create').catch(() => undefined);

    expect(cloudFormation.requests).toHaveLength(attempts);
  });

  test.each<[string, string, boolean]>([
    ['another run stored a pair', 'ResourceExistsException', true],
    ['no other run stored a pair', 'ResourceExistsException', false],
    ['the rights are missing, though there is a pair by now', 'AccessDeniedException', true],
  ])('that cannot be stored is read again where %s: %s', async (_, name, hasOther) => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const SecretString = other.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const none = Object.assign(new Error('none'), { name: 'ResourceNotFoundException' });
    const reads = secrets.client.on(GetSecretValueCommand).rejectsOnce(none);
    if (hasOther) reads.resolves({ SecretString });
    else reads.rejects(none);
    secrets.client.on(PutSecretValueCommand).rejects(Object.assign(new Error('no'), { name }));

    await run('Create');

    const isRead = hasOther && name === 'ResourceExistsException';
    expect(answer()).toMatchObject(
      isRead
        ? {
            Status: 'SUCCESS',
            Data: { PublicKey: other.publicKey.export({ type: 'spki', format: 'pem' }).toString() },
          }
        : { Status: 'FAILED', PhysicalResourceId: 'not-made' },
    );
  });

  test('that cannot be created fails the deployment with a pointer to the logs and nothing else', async () => {
    secrets.client.on(GetSecretValueCommand).rejects(new Error('no rights on arn:delivery-key'));
    await run('Create');

    expect(answer()).toMatchObject({ Status: 'FAILED', Reason: 'See the logs: stream-1' });
    expect(JSON.stringify(answer())).not.toContain('no rights');
    expect(stored()).toEqual([]);
  });
});
