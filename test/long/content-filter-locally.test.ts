import { describe, expect, test } from '@jest/globals';
import { refusal } from '../contract/support/answers.ts';
import { itemsNaming } from '../contract/support/aws.ts';
import { type AnyRecord, aGeneration, settled, unique } from '../contract/support/client.ts';
import { history } from '../contract/support/ledger.ts';
import { endUserOf, uniqueEmail } from '../contract/support/resources.ts';
import { useCaller } from '../contract/support/use-caller.ts';
import { aVideo, createVideo } from '../contract/support/videos.ts';

const BLOCK = '[guardrail=block]';
const MASK = '[guardrail=mask]';

const caller = useCaller(undefined, 'filtered');
const unfiltered = useCaller();

const create = (body: Record<string, unknown>, by = caller, headers: Record<string, string> = {}) =>
  by.post<AnyRecord>('/v1/generations', aGeneration({ size: '512x512', ...body }), headers);

describe('A prompt the content filter blocks', () => {
  test('is refused with 422 content_policy, without a debit or a write', async () => {
    const endUserEmail = uniqueEmail();
    const before = { balance: (await caller.get('/v1/balance')).body, entries: await history(caller) };

    const answer = await create({ endUserEmail, prompt: unique(BLOCK) });

    expect(refusal(answer)).toEqual([422, 'content_policy']);
    expect({ balance: (await caller.get('/v1/balance')).body, entries: await history(caller) }).toEqual(
      before,
    );
    expect(await endUserOf(caller, endUserEmail)).toBeUndefined();
    expect(await itemsNaming(caller.service, endUserEmail)).toEqual([]);
  });

  test('does not consume its Idempotency-Key', async () => {
    const headers = { 'idempotency-key': `key ${Math.random()}` };
    expect((await create({ prompt: unique(BLOCK) }, caller, headers)).status).toBe(422);

    const answer = await create({ prompt: unique('[fail=content_policy]') }, caller, headers);

    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([202, null]);
  });
});

test('A prompt of a video is judged like that of an image', async () => {
  const answer = await createVideo(caller, aVideo({ prompt: unique(BLOCK) }));

  expect(refusal(answer)).toEqual([422, 'content_policy']);
});

test('A prompt the content filter would only mask is accepted', async () => {
  const { status, body } = await create({ prompt: unique(MASK) });

  expect(status).toBe(202);
  expect((await settled(caller, body.requestId)).status).toBe('succeeded');
});

test('Any other prompt is accepted', async () => {
  const { status, body } = await create({ prompt: unique('[guardrail=none]') });

  expect(status).toBe(202);
  expect((await settled(caller, body.requestId)).status).toBe('succeeded');
});

test('Without a content filter every prompt is accepted', async () => {
  const { status, body } = await create({ prompt: unique(BLOCK) }, unfiltered);

  expect(status).toBe(202);
  expect((await settled(unfiltered, body.requestId)).status).toBe('succeeded');
});
