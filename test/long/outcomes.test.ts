import { beforeAll, describe, expect, test } from '@jest/globals';
import { type AnyRecord, accepted, settled, unique } from '../contract/support/client.ts';
import { balance, entriesOf } from '../contract/support/ledger.ts';
import { useCaller } from '../contract/support/use-caller.ts';

const caller = useCaller();

const create = async (body: Record<string, unknown>): Promise<AnyRecord> => {
  const { requestId } = await accepted(caller, body);
  return settled(caller, requestId);
};

// A model of each way in which a provider answers: ModelArk's calls, Model Studio's tasks and its calls.
describe.each(['xSD4.5', 'xQI3Pro', 'xZI1.0Pro'])('With %s', (model) => {
  const FAILURES = [
    ['[fail=content_policy]', 'content_policy'],
    ['[fail=provider_error]', 'provider_error'],
    ['[broken=all]', 'internal_error'],
  ];
  const ids = new Map<string, string>();
  beforeAll(async () => {
    const createWith = async (directive: string) => {
      ids.set(directive, (await accepted(caller, { model, prompt: unique(directive) })).requestId);
    };
    await Promise.all([
      ...FAILURES.map(([directive = '']) => createWith(directive)),
      createWith('[flaky=2]'),
    ]);
  });
  const recordOf = (directive: string) => settled(caller, ids.get(directive) ?? '');

  test.each(FAILURES)('a request of %s fails with %s and is refunded in full', async (directive, code) => {
    const { requestId, status, error } = await recordOf(directive);

    expect([status, error?.code]).toEqual(['failed', code]);
    const [refund, debit, ...others] = await entriesOf(caller, requestId);
    expect(debit?.[0]).toBe('generation');
    expect(refund).toEqual(['refund', debit?.[1]]);
    expect(others).toEqual([]);
  });

  test('a provider that is busy twice is called again', async () => {
    expect(await recordOf('[flaky=2]')).toMatchObject({ status: 'succeeded' });
  });
});

describe('What a provider takes', () => {
  const ids = new Map<string, string>();
  beforeAll(async () => {
    const create = async (what: string, body: Record<string, unknown>) => {
      ids.set(what, (await accepted(caller, body)).requestId);
    };
    await Promise.all([
      create('large', { model: 'xZI1.0Pro', size: '2560x2560' }),
      create('long', { model: 'xZI1.0Pro', prompt: `${unique().padEnd(800, 'a')}[fail=content_policy]` }),
      create('few at once', { model: 'xSD4.5', n: 4, prompt: unique('[running=1][delay=0.1]') }),
    ]);
  });
  const recordOf = (what: string) => settled(caller, ids.get(what) ?? '');

  test('of sizes is less than the catalog: 2560x2560 is accepted, fails with provider_error and is refunded', async () => {
    const { requestId, ...record } = await recordOf('large');

    expect(record).toMatchObject({ status: 'failed', error: { code: 'provider_error' } });
    const [refund, debit] = await entriesOf(caller, requestId);
    expect([debit?.[0], refund]).toEqual(['generation', ['refund', debit?.[1]]]);
  });

  test('of a prompt is its beginning: the rest is accepted, and cut off', async () => {
    expect(await recordOf('long')).toMatchObject({ status: 'succeeded' });
  });

  test('at once may be less than a request has calls: all are made in the end', async () => {
    const { status, images } = await recordOf('few at once');

    expect([status, images?.filter(({ url }) => url).length]).toEqual(['succeeded', 4]);
  });
});

describe('The caller pays for what was delivered', () => {
  test('an output that could not be stored is marked and refunded, and the others are delivered', async () => {
    const before = await balance(caller);

    const record = await create({ model: 'xQI3Pro', size: '512x512', n: 3, prompt: unique('[broken=1]') });

    expect(record).toMatchObject({ status: 'succeeded', cost: 8 });
    expect(record.images?.map(({ error, url }) => error?.code ?? typeof url)).toEqual([
      'string',
      'storage_failed',
      'string',
    ]);
    expect(await balance(caller)).toBe(before - 8);
  });

  test.each([[{ n: 3 }], [{ sequential: 'auto', sequentialOptions: { maxImages: 3 } }]])(
    'an image that the provider refused is left out and refunded, and the others are delivered: %j',
    async (body) => {
      const before = await balance(caller);

      const record = await create({ model: 'xSD4.5', ...body, prompt: unique('[partial=1]') });

      expect(record).toMatchObject({ status: 'succeeded', cost: 8 });
      expect(record.images?.map(({ error, url }) => error?.code ?? typeof url)).toEqual(['string', 'string']);
      expect(await entriesOf(caller, record.requestId)).toEqual([
        ['refund', 4],
        ['generation', 12],
      ]);
      expect(await balance(caller)).toBe(before - 8);
    },
  );

  test('a sequence with fewer images than its maximum costs less', async () => {
    const before = await balance(caller);

    const record = await create({
      model: 'xSD4.5',
      sequential: 'auto',
      sequentialOptions: { maxImages: 5 },
      prompt: unique('[images=2]'),
    });

    expect(record).toMatchObject({ status: 'succeeded', cost: 8 });
    expect(record.images).toHaveLength(2);
    expect(await balance(caller)).toBe(before - 8);
  });
});
