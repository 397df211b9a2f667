import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { callbackUrl, isCallbackToken } from '../../../../core/provider-calls/provider-urls.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { REQUEST_ID, VIDEO_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { secrets } from '../../fakes/fresh-secrets.ts';

beforeEach(() => {
  secrets.set('arn:callback-secret', 'a secret of the deployment');
});

const token = (): string =>
  createHmac('sha256', 'a secret of the deployment').update(`modelark\n${VIDEO_ID}`).digest('hex');

describe('the URL given to a provider', () => {
  test('names provider and request, and ends in a token of this deployment', async () => {
    expect(await callbackUrl('modelark', VIDEO_ID)).toBe(
      `https://api.example.com/callbacks/modelark/${VIDEO_ID}/${token()}`,
    );
  });

  test('has another token for each request, for each provider, and under another secret', async () => {
    secrets.set('arn:another-secret', 'another');
    const urls = [
      await callbackUrl('modelark', REQUEST_ID),
      await callbackUrl('modelstudio', VIDEO_ID),
      await withEnvironment({ CALLBACK_SECRET_ARN: 'arn:another-secret' }, () =>
        callbackUrl('modelark', VIDEO_ID),
      ),
    ];

    const tokens = [token(), ...urls.map((url) => url.split('/').at(-1))];
    expect(new Set(tokens).size).toBe(4);
    for (const each of tokens) expect(each).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('a token after a rotation of the secret', () => {
  const DAY = 86_400;
  let secretsMade = 0;
  /** A secret of its own, since versions are cached for a minute: put an hour ago, rotated now and again after these seconds. */
  const rotated = (...rotations: [text: string, atSeconds: number][]) => {
    secretsMade++;
    const arn = `arn:rotated-${secretsMade}`;
    secrets.set(arn, 'first', atSeconds(-3600));
    for (const [text, seconds] of rotations) secrets.set(arn, text, atSeconds(seconds));
    const tokenOf = (text: string) =>
      createHmac('sha256', text).update(`modelark\n${VIDEO_ID}`).digest('hex');
    const accepts = (text: string, seconds: number) =>
      withEnvironment({ CALLBACK_SECRET_ARN: arn }, () =>
        isCallbackToken(tokenOf(text), 'modelark', VIDEO_ID, atSeconds(seconds)),
      );
    return { arn, accepts };
  };
  const reads = (arn: string) => secrets.reads()[`GetSecretValue ${arn}`];

  test.each([
    [0, true],
    [3600, true],
    [DAY - 0.001, true],
    [DAY, false],
    [90 * DAY, false],
  ])('is accepted under the previous secret %p s after it: %p', async (seconds, isAccepted) => {
    const { accepts } = rotated(['second', 0]);

    expect(await accepts('first', seconds)).toBe(isAccepted);
    expect(await accepts('second', seconds)).toBe(true);
  });

  test('is refused under the secret before the previous one, so a leak is mended by two rotations', async () => {
    const { accepts } = rotated(['second', 0], ['third', 1]);

    expect([await accepts('first', 2), await accepts('second', 2), await accepts('third', 2)]).toEqual([
      ...[false, true, true],
    ]);
  });

  test('is accepted under the new secret by a process that has the old one cached', async () => {
    const { arn, accepts } = rotated();
    expect(await accepts('first', 0)).toBe(true);
    secrets.set(arn, 'second', atSeconds(1));

    expect(await accepts('second', 2)).toBe(true);
  });

  test('is refused under any other secret, and before the first rotation', async () => {
    expect(await rotated(['second', 0]).accepts('another', 1)).toBe(false);
    expect(await rotated().accepts('another', 1)).toBe(false);
  });

  test('costs no read but the one in 5 min while it is that of the current secret', async () => {
    const { arn, accepts } = rotated(['second', 0]);

    for (let second = 0; second < 50; second++) expect(await accepts('second', second)).toBe(true);

    expect(reads(arn)).toBe(1);
  });

  test('costs two more reads a minute at most, however many wrong ones are sent', async () => {
    const { arn, accepts } = rotated(['second', 0]);

    for (let second = 0; second < 120; second++) expect(await accepts('another', second)).toBe(false);

    expect(reads(arn)).toBe(5);
  });

  test('is not judged while the secret cannot be read', async () => {
    const { accepts } = rotated(['second', 0]);
    expect(await accepts('second', 0)).toBe(true);
    secrets.client.rejects(Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' }));

    await expect(accepts('first', 1)).rejects.toMatchObject({ name: 'SecretUnreadableError' });
  });
});
