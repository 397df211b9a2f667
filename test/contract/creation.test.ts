import { describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { itemsNaming } from './support/aws.ts';
import {
  type AnyRecord,
  anUndrawnGeneration,
  newCaller,
  sharedService,
  unique,
  withScopes,
} from './support/client.ts';
import { history } from './support/ledger.ts';
import { useCaller } from './support/use-caller.ts';

const caller = useCaller();

const create = (body: unknown) => caller.post<AnyRecord>('/v1/generations', body);

describe('An accepted creation', () => {
  test('is answered with 202, the queued record, Location and Retry-After', async () => {
    const before = Date.now();
    const prompt = unique('[fail=content_policy]');

    const { status, headers, body } = await create({
      model: 'xSD4.5',
      prompt,
      endUserEmail: 'ada@example.com',
      references: ['https://example.com/a.png'],
    });

    const { requestId } = body;
    const pollUrl = `${caller.service.baseUrl}/v1/generations/${requestId}`;
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(pollUrl);
    expect(headers.get('retry-after')).toBe('5');
    expect(requestId).toMatch(/^img_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    expect(body).toEqual({
      requestId,
      model: 'xSD4.5',
      status: 'queued',
      prompt,
      referencesCount: 1,
      endUserEmail: 'ada@example.com',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      pollUrl,
    });
    const createdAt = Date.parse(body.createdAt ?? '');
    expect(createdAt).toBeGreaterThanOrEqual(before);
    expect(createdAt).toBeLessThanOrEqual(Date.now());
  });
});

describe('A refused creation writes nothing', () => {
  const refusedEmail = `refused-${Math.random()}@example.com`;
  const body = (more: Record<string, unknown> = {}) =>
    anUndrawnGeneration({ endUserEmail: refusedEmail, ...more });

  test('with 400, 402 or 403', async () => {
    const poor = await newCaller(await sharedService(), 3.999);
    const reader = await withScopes(poor, 'generations:read');
    const before = { balance: (await poor.get('/v1/balance')).body, history: await history(poor) };

    const answers = [
      await poor.post('/v1/generations', body({ size: '1x1' })),
      await poor.post('/v1/generations?x=1', body()),
      await poor.post('/v1/generations', body({ model: 'xSD4.5' })),
      await reader.post('/v1/generations', body()),
    ];

    expect(answers.map(refusal)).toEqual([
      [400, 'validation_error'],
      [400, 'validation_error'],
      [402, 'payment_required'],
      [403, 'forbidden'],
    ]);
    expect({ balance: (await poor.get('/v1/balance')).body, history: await history(poor) }).toEqual(before);
    expect(await itemsNaming(poor.service, refusedEmail)).toEqual([]);
  });
});
