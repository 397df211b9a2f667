import { beforeAll, describe, expect, test } from '@jest/globals';
import { wrongFields } from '../contract/support/answers.ts';
import {
  type AnyRecord,
  accepted,
  anUndrawnGeneration,
  eventually,
  settled,
  unique,
} from '../contract/support/client.ts';
import { entriesOf, expectUnbrokenChain, refundedInFull } from '../contract/support/ledger.ts';
import { ops } from '../contract/support/local-service.ts';
import { useCaller } from '../contract/support/use-caller.ts';

/** A change of a model's settings takes effect within 5 s; with time for the calls that show it on a busy machine. */
const CACHED_SECONDS = 30;
const VIDEO_IDS = ['xW2.7S', 'xW3.0s', 'xW3.0sPro'];

const caller = useCaller(1000, 'filtered');

const setRate = (model: string, perImage: unknown) =>
  ops(caller.service, 'rates', 'set', '--model', model, '--value', JSON.stringify(perImage));

describe('A newly set rate', () => {
  const perImage = [{ maxPixels: null, xTokens: 7.125 }];
  let createdBefore: AnyRecord[];

  beforeAll(async () => {
    const [partial, failing] = await Promise.all([
      accepted(caller, { model: 'xSD4.5', n: 2, prompt: unique('[delay=2][broken=1]') }),
      accepted(caller, { model: 'xSD4.5', prompt: unique('[delay=2][fail=provider_error]') }),
    ]);
    await setRate('xSD4.5', perImage);
    createdBefore = await Promise.all([
      settled(caller, partial.requestId),
      settled(caller, failing.requestId),
    ]);
  });

  test('changes neither the cost nor the refund of an earlier request', async () => {
    const [partial, failing] = createdBefore;

    expect(partial).toMatchObject({ status: 'succeeded', cost: 4 });
    expect(await entriesOf(caller, partial?.requestId ?? '')).toEqual([
      ['refund', 4],
      ['generation', 8],
    ]);
    expect(failing?.status).toBe('failed');
    expect(await entriesOf(caller, failing?.requestId ?? '')).toEqual(refundedInFull(4));
  });

  test('is the price of a request of any size, once the old rate is no longer cached', async () => {
    const create = () => accepted(caller, anUndrawnGeneration({ model: 'xSD4.5', size: '4K', n: 3 }));
    const entries = await eventually(
      async () => {
        const { requestId } = await create();
        await settled(caller, requestId);
        return entriesOf(caller, requestId);
      },
      ([, generation]) => generation?.[1] === 21.375,
      CACHED_SECONDS,
    );

    expect(entries).toEqual(refundedInFull(21.375));
    await expectUnbrokenChain(caller);
  });
});

describe('A model that is disabled', () => {
  const create = () => caller.post<AnyRecord>('/v1/generations', anUndrawnGeneration({ model: 'xSD4.5' }));
  const listed = async () => {
    const { body } = await caller.get<{ data: { id: string }[] }>('/v1/models');
    return body.data.map(({ id }) => id);
  };
  const known = async () => {
    const models = await ops<{ id: string; enabled: boolean; reason: string | null }[]>(
      caller.service,
      ...['models', 'list'],
    );
    return models.find(({ id }) => id === 'xSD4.5');
  };
  const earlier = () =>
    accepted(caller, { model: 'xSD4.5', prompt: unique('[delay=2][fail=content_policy]') });

  test('is refused by creation and missing from the catalog until it is enabled; earlier requests continue', async () => {
    const { requestId } = await earlier();

    expect(await ops(caller.service, 'models', 'disable', '--model', 'xSD4.5')).toEqual({
      id: 'xSD4.5',
      enabled: false,
    });
    expect(wrongFields(await eventually(create, ({ status }) => status === 400, CACHED_SECONDS))).toEqual([
      'model',
    ]);
    const isListed = (ids: string[]) => ids.includes('xSD4.5');
    expect(await eventually(listed, (ids) => !isListed(ids), CACHED_SECONDS)).toEqual([
      'xZI1.0Pro',
      ...VIDEO_IDS,
    ]);
    expect(await known()).toMatchObject({ enabled: false, reason: 'switched off by the operator' });
    expect(await settled(caller, requestId)).toMatchObject({ error: { code: 'content_policy' } });

    expect(await ops(caller.service, 'models', 'enable', '--model', 'xSD4.5')).toEqual({
      id: 'xSD4.5',
      enabled: true,
    });
    await eventually(create, ({ status }) => status === 202, CACHED_SECONDS);
    expect(await eventually(listed, isListed, CACHED_SECONDS)).toEqual(['xSD4.5', 'xZI1.0Pro', ...VIDEO_IDS]);
    expect(await known()).toMatchObject({ enabled: true, reason: null });
  });
});
