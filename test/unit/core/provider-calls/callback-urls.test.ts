import '../../builders/environment.ts';
import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { callbackUrl } from '../../../../core/provider-calls/callback-urls.ts';
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
    expect(token()).toMatch(/^[0-9a-f]{64}$/);
  });

  test('has another token for each request', async () => {
    const [one, other] = [await callbackUrl('modelark', VIDEO_ID), await callbackUrl('modelark', REQUEST_ID)];

    expect(one.split('/').at(-1)).not.toBe(other.split('/').at(-1));
  });

  test('has another token for each provider', async () => {
    const other = await callbackUrl('modelstudio', VIDEO_ID);

    expect(other.split('/').at(-1)).toMatch(/^[0-9a-f]{64}$/);
    expect(other.split('/').at(-1)).not.toBe(token());
  });

  test('has another token under another secret', async () => {
    secrets.set('arn:another-secret', 'another');
    const other = await withEnvironment({ CALLBACK_SECRET_ARN: 'arn:another-secret' }, () =>
      callbackUrl('modelark', VIDEO_ID),
    );

    expect(other.split('/').at(-1)).not.toBe(token());
  });
});
