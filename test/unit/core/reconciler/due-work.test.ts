import { describe, expect, test } from '@jest/globals';
import { DueWork, type Kept } from '../../../../core/reconciler/due-work.ts';
import type { DueItem } from '../../../../core/requests/due-items.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { aProvider } from '../../builders/providers.ts';
import { at, dueKeyOf, given, listed, memory } from '../../builders/reconciling.ts';

/** A request due at this second. */
const item = (requestId: string, seconds: number): DueItem => ({
  list: 'CHECK',
  work: { kind: 'request', requestId },
  key: requestKey(requestId),
  dueKey: listed('CHECK', seconds, requestId),
});
const ms = (seconds: number): number => Date.parse(at(seconds));
const idsAt = (work: DueWork, seconds: number): string[] =>
  work.dueBy(ms(seconds)).map(({ due }) => (due.work.kind === 'request' ? due.work.requestId : ''));
const workOf = (...items: DueItem[]): DueWork => {
  const work = new DueWork();
  work.add(items);
  return work;
};
const only = (work: DueWork): Kept => work.dueBy(Number.POSITIVE_INFINITY)[0] as Kept;

describe('the work of a run', () => {
  test('is what is due, longest due first, and not being checked', () => {
    const work = workOf(item('b', 2), item('a', 1), item('c', 30));
    expect(idsAt(work, 29)).toEqual(['a', 'b']);

    only(work).isBeingChecked = true;
    expect(idsAt(work, 30)).toEqual(['b', 'c']);
  });

  test('is due at once when its time cannot be read: the check lists it anew', () => {
    const broken = item('a', 1);
    const work = workOf({ ...broken, dueKey: { ...broken.dueKey, GSI1SK: '2026-soon' } }, item('b', 2));

    expect(idsAt(work, 2)).toEqual(['a', 'b']);
  });

  test('forgets an item that the index does not show any more, unless it is being checked', () => {
    const work = workOf(item('a', 1), item('b', 2), item('c', 3));
    only(work).isBeingChecked = true;
    work.keepListed([item('c', 3)]);
    expect(idsAt(work, 9)).toEqual(['c']);
    expect(work.size).toBe(2);

    work.add([item('b', 2)]);
    expect(idsAt(work, 9)).toEqual(['b', 'c']);
  });

  test('keeps the time of an item’s next check when the index shows it again', () => {
    const work = workOf(item('a', 1));
    only(work).nextMs = ms(20);
    work.add([item('a', 1)]);

    expect(idsAt(work, 19)).toEqual([]);
    expect(work.size).toBe(1);
  });

  test('does not take back an item that it is done with, until the index shows it elsewhere', () => {
    const work = workOf(item('a', 1));
    work.leave(only(work));

    work.add([item('a', 1)]);
    expect(work.size).toBe(0);
    work.add([item('a', 40)]);
    expect(idsAt(work, 40)).toEqual(['a']);
  });

  test('begins anew once it was left to another run: that run may have listed an item as it was before', () => {
    const work = workOf(item('a', 1), item('b', 2));
    work.leave(only(work));
    work.clear();
    expect(work.size).toBe(0);

    work.add([item('a', 1), item('b', 2)]);
    expect(idsAt(work, 9)).toEqual(['a', 'b']);
  });

  test('follows an item that was listed under another due key, except during a check of it', () => {
    const work = workOf(item('a', 1));
    const kept = only(work);
    Object.assign(kept, { nextMs: ms(50), isBeingChecked: true });
    work.add([item('a', 3)]);
    expect(only(work)).toBeUndefined();

    kept.isBeingChecked = false;
    work.add([item('a', 3)]);
    expect(only(work)).toMatchObject({ due: item('a', 3), nextMs: ms(3) });
  });

  test('has the tasks of each account, without the items under check', () => {
    const accounts = [
      ['modelark', 'https://one.example'],
      ['modelark', 'https://two.example'],
      ['fal', 'https://one.example'],
    ] as const;
    const work = workOf(...[0, 1, 2, 3, 4].map((index) => item(`r${index}`, index)));
    const kept = work.dueBy(ms(9));
    for (const [index, [id, baseUrl]] of [...accounts, accounts[0]].entries()) {
      const provider = { ...aProvider('asynchronous', 1), id, baseUrl };
      const listed = { provider, taskIds: [], found: async () => ({ kind: 'done' as const }) };
      Object.assign(kept[index] ?? {}, { rest: { id, act: listed.found, listed } });
    }
    Object.assign(kept[3] ?? {}, { isBeingChecked: true });

    const found = accounts.map(([id, baseUrl]) => work.listedAt({ id, baseUrl }));

    expect(found).toEqual([[kept[0]], [kept[1]], [kept[2]]]);
  });

  test('is 1,000 items at most: the others stay due, and are taken when there is room', () => {
    const items = Array.from({ length: 1_010 }, (_, index) => item(`r${index}`, index));
    const work = workOf(...items);
    expect(work.size).toBe(1_000);
    expect(idsAt(work, 1_010).at(-1)).toBe('r999');

    for (const kept of work.dueBy(ms(3))) work.leave(kept);
    work.add(items);
    expect([work.size, idsAt(work, 1_010).at(-1)]).toEqual([1_000, 'r1003']);
  });
});

describe('the end of a run', () => {
  test('lists every item for its next check, unless it was listed under another due key since', async () => {
    const [one, moved] = [given(0), given(0)];
    const work = new DueWork();
    const startOf = (requestId: string): DueItem => ({
      ...item(requestId, 0),
      list: 'START',
      dueKey: listed('START', 45, requestId),
    });
    work.add([startOf(one), startOf(moved)]);
    for (const kept of work.dueBy(ms(45))) kept.nextMs = ms(90);
    memory.patch(requestKey(moved), listed('CHECK', 300, moved));

    await work.writeBack();

    expect(dueKeyOf(one)).toEqual(listed('START', 90, one));
    expect(dueKeyOf(moved)).toEqual(listed('CHECK', 300, moved));
  });

  test('writes nothing for an item that it did not get to', async () => {
    const requestId = given(0);
    await workOf(item(requestId, 45)).writeBack();

    expect(memory.calls()).toEqual({});
  });
});
