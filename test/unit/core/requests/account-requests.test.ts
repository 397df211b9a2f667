import { beforeEach, describe, expect, test } from '@jest/globals';
import { newRequestId } from '../../../../core/ids.ts';
import {
  type AccountRequestFilter,
  listRequestIdsOfAccount,
} from '../../../../core/requests/account-requests.ts';
import type { StoredStatus } from '../../../../core/requests/request-rules.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anImageRequest, aVideoRequest, putRequest } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

/** The requests of an account, each with the seconds of its creation. */
const GIVEN = {
  'old image': ['image', -10, 'succeeded'],
  'late image': ['image', 0.001, 'queued'],
  image: ['image', 0, 'failed'],
  video: ['video', 0, 'processing'],
  'late video': ['video', 5, 'failed'],
} as const satisfies Record<string, readonly ['image' | 'video', number, StoredStatus]>;

let names = new Map<string, string>();
beforeEach(() => {
  names = new Map();
  for (const [name, [kind, seconds, status]] of Object.entries(GIVEN)) {
    const createdAt = atSeconds(seconds);
    const own = { requestId: newRequestId(kind, createdAt), createdAt: createdAt.toISOString(), status };
    putRequest(memory, kind === 'image' ? anImageRequest(own) : aVideoRequest(own));
    names.set(own.requestId, name);
  }
});

const at = (seconds: number): string => atSeconds(seconds).toISOString();
const listed = async (filter: AccountRequestFilter) => {
  const found: unknown[] = [];
  for await (const id of listRequestIdsOfAccount(ACCOUNT_ID, filter)) found.push(names.get(id));
  return found;
};
const ALL = ['late image', 'image', 'old image', 'late video', 'video'];

describe('the requests of an account', () => {
  test.each<[AccountRequestFilter, string[]]>([
    [{}, ALL],
    [{ kind: 'image' }, ['late image', 'image', 'old image']],
    [{ kind: 'video' }, ['late video', 'video']],
    [{ state: 'unfinished' }, ['late image', 'video']],
    [{ state: 'succeeded' }, ['old image']],
    [{ state: 'failed' }, ['image', 'late video']],
    [{ createdFrom: at(0) }, ['late image', 'image', 'late video', 'video']],
    [{ createdFrom: at(0.001) }, ['late image', 'late video']],
    [{ createdFrom: '1969-12-31T23:59:59.999Z' }, ALL],
    [{ createdUntil: at(0) }, ['image', 'old image', 'video']],
    [{ createdUntil: at(-0.001) }, ['old image']],
    [{ createdFrom: at(0), createdUntil: at(0.001), state: 'failed' }, ['image']],
  ])('that match %j are listed newest first of each kind', async (filter, expected) => {
    expect(await listed(filter)).toEqual(expected);
  });
});
