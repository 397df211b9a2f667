import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  type AnyRecord,
  accepted,
  type Caller,
  newCaller,
  settled,
  sharedService,
  unique,
} from '../contract/support/client.ts';
import { entriesOf } from '../contract/support/ledger.ts';
import { SHARED_RUNS } from '../contract/support/shared-runs.ts';

const DEADLINE_SECONDS = SHARED_RUNS.guarded.imageDeadlineSeconds;

let caller: Caller;
beforeAll(async () => {
  caller = await newCaller(await sharedService('guarded'));
});

const UNFINISHED: [how: string, body: Record<string, unknown>, price: number][] = [
  ['in a call', { model: 'xZI1.0Pro' }, 1],
  ['in several concurrent calls', { model: 'xSD4.5', n: 2 }, 8],
  ['as a task', { model: 'xQI3Pro', size: '512x512' }, 4],
];

describe('A request the provider never finishes', () => {
  const ended = new Map<string, AnyRecord>();
  beforeAll(async () => {
    const createAndSettle = async ([how, body]: (typeof UNFINISHED)[number]) => {
      const { requestId } = await accepted(caller, { ...body, prompt: unique('[fail=timeout]') });
      ended.set(how, await settled(caller, requestId));
    };
    await Promise.all(UNFINISHED.map(createAndSettle));
  });

  test.each(UNFINISHED)(
    '%s fails with provider_timeout at its deadline and is refunded',
    async (how, _body, price) => {
      const { requestId = '', status, error, createdAt = '', finishedAt = '' } = ended.get(how) ?? {};

      expect({ status, code: error?.code }).toEqual({ status: 'failed', code: 'provider_timeout' });
      const secondsTaken = (Date.parse(finishedAt) - Date.parse(createdAt)) / 1000;
      expect(secondsTaken).toBeGreaterThanOrEqual(DEADLINE_SECONDS);
      expect(secondsTaken).toBeLessThan(DEADLINE_SECONDS + 11);
      expect(await entriesOf(caller, requestId)).toEqual([
        ['refund', price],
        ['generation', price],
      ]);
    },
  );
});
