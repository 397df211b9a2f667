import '../../builders/environment.ts';
import { BatchWriteCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { systemClock } from '../../../../core/clock.ts';
import type { CountedList, ListView } from '../../../../core/lists/counted-list.ts';
import { noteListChange, VISIBLE_AFTER_SECONDS } from '../../../../core/lists/counted-ranges.ts';
import { type ListSizes, matchingEntries } from '../../../../core/lists/list-entries.ts';
import { logger } from '../../../../core/observability.ts';
import { listCountsPartition } from '../../../../core/table/count-keys.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
let now: Date;
beforeEach(() => {
  memory.reset();
  now = atSeconds(0);
  jest.spyOn(systemClock, 'now').mockImplementation(() => now);
});

const ACCOUNT = 'acc_1';
const SIZES: ListSizes = { far: 6, filtered: 4, range: 3 };

const Entry = z.object({ SK: z.string(), GSI1SK: z.string(), blockedAt: z.optional(z.string()) });
type Entry = z.infer<typeof Entry>;
type Counts = { red: number; plain: number };
const isRed = ({ blockedAt }: Entry): boolean => blockedAt !== undefined;
const placeOf = (seconds: number): string => atSeconds(seconds).toISOString();

/** A list of things that may be red, in parts of 10 s. */
const things: CountedList<Entry, Counts> = {
  accountId: ACCOUNT,
  name: 'THINGS',
  index: { name: 'GSI1', partition: 'GSI1PK', sort: 'GSI1SK' },
  partition: 'THINGS',
  bottom: '0',
  top: '~',
  toEntry: (item) => Entry.parse(item),
  positionOf: ({ GSI1SK }) => GSI1SK,
  isSettled: ({ GSI1SK }) => Date.parse(GSI1SK) < now.getTime() - VISIBLE_AFTER_SECONDS * 1_000,
  count: (entries) => {
    const red = entries.filter(isRed).length;
    return { red, plain: entries.length - red };
  },
  kind: 'THINGS',
  partOf: (position) => position.slice(0, 18),
};
const viewOf = (red?: boolean, oldest = things.bottom): ListView<Entry, Counts> => ({
  oldest,
  ...(red !== undefined && { entriesPerMatch: 2 }),
  matches: (entry) => red === undefined || isRed(entry) === red,
  matching: (counts) => {
    if (red === undefined) return counts.red + counts.plain;
    return red ? counts.red : counts.plain;
  },
});

const put = (name: string, seconds: number, red = false): void =>
  memory.put(
    { PK: 'THING', SK: name },
    { GSI1PK: 'THINGS', GSI1SK: placeOf(seconds), ...(red && { blockedAt: 'x' }) },
  );
const remove = async (name: string, seconds: number): Promise<void> => {
  await noteListChange(ACCOUNT, 'THINGS', things.partOf(placeOf(seconds)));
  memory.remove({ PK: 'THING', SK: name });
};
const namesOf = async (skip: number, wanted: number, view = viewOf()): Promise<string[]> => {
  const names: string[] = [];
  if (wanted === 0) return names;
  for await (const { SK } of matchingEntries(things, view, { skip, wanted }, now, SIZES)) {
    names.push(SK);
    if (names.length === wanted) break;
  }
  return names;
};
const countedRanges = () =>
  memory.partition(listCountsPartition(ACCOUNT)).filter(({ SK }) => String(SK).startsWith('RANGE#'));
/** Index entries that were read since the last call of this. */
const entriesRead = async (): Promise<number> => {
  const answers = memory.client.commandCalls(QueryCommand).filter(({ args }) => args[0].input.IndexName);
  const read = await Promise.all(answers.map(({ returnValue }) => returnValue));
  memory.client.resetHistory();
  return read.reduce((sum, { Items = [] }) => sum + Items.length, 0);
};

describe('a walk through a list', () => {
  const OLD = -10_000;
  const many = (count: number): string[] => {
    for (let index = 0; index < count; index++) put(`t${index}`, OLD - index);
    return Array.from({ length: count }, (_, index) => `t${index}`);
  };

  test('a short one looks no counts up, and keeps none', async () => {
    const names = many(20);

    expect(await namesOf(1, 2)).toEqual(names.slice(1, 3));
    expect(memory.calls()).toEqual({ QueryCommand: 1 });
  });

  test('a long one counts what it reads, and the next one passes over it', async () => {
    const names = many(40);

    expect(await namesOf(30, 2)).toEqual(names.slice(30, 32));
    expect(await entriesRead()).toBe(32);
    expect(await namesOf(30, 2)).toEqual(names.slice(30, 32));
    expect(await entriesRead()).toBeLessThanOrEqual(2 + 2 * SIZES.range);
    expect(memory.client.commandCalls(BatchWriteCommand)).toEqual([]);
  });

  test('to the end leaves almost nothing to read to the next one, by any filter', async () => {
    const names = many(40);
    put('red', OLD - 20, true);
    await namesOf(1_000, 1);
    await entriesRead();

    expect(await namesOf(0, 2, viewOf(true))).toEqual(['red']);
    expect(await entriesRead()).toBeLessThanOrEqual(SIZES.filtered + 2 * SIZES.range);
    expect(await namesOf(38, 5, viewOf(false))).toEqual(names.slice(38));
    expect(await entriesRead()).toBeLessThanOrEqual(1 + 2 * SIZES.range);
  });

  test('counts nothing that may still change by itself', async () => {
    for (let index = 0; index < 20; index++) put(`new${index}`, -VISIBLE_AFTER_SECONDS + index);
    await namesOf(15, 1);

    expect(countedRanges()).toEqual([]);
  });

  test('does without counts of a part from a change on until the index shows it, and counts again after', async () => {
    many(40);
    await namesOf(1_000, 1);
    await entriesRead();
    await namesOf(30, 1);
    const before = await entriesRead();
    await remove('t1', OLD - 1);

    for (const seconds of [0, VISIBLE_AFTER_SECONDS]) {
      now = atSeconds(seconds);
      await namesOf(1_000, 1);
      await entriesRead();
      expect(await namesOf(30, 1)).toEqual(['t31']);
      expect(await entriesRead()).toBeGreaterThan(before + 2);
    }
    now = atSeconds(VISIBLE_AFTER_SECONDS + 1);
    await namesOf(1_000, 1);
    await entriesRead();
    expect(await namesOf(30, 1)).toEqual(['t31']);
    expect(await entriesRead()).toBeLessThanOrEqual(before + 2);
  });

  test('for which no counts tell looks none up, and keeps none', async () => {
    const names = many(40);
    const { matching: _, ...view } = viewOf();

    expect(await namesOf(30, 2, view)).toEqual(names.slice(30, 32));
    expect(memory.calls()).toEqual({ QueryCommand: 1 });
  });

  test('succeeds when the counts cannot be kept', async () => {
    const names = many(20);
    const warned = jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    memory.client.on(BatchWriteCommand).rejects(new Error('busy'));

    expect(await namesOf(10, 1)).toEqual(names.slice(10, 11));
    expect(warned).toHaveBeenCalledTimes(1);
  });
});

describe('over a life of a list', () => {
  const aStep = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('put' as const), red: fc.boolean(), tie: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), which: fc.nat() }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 400 }) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('read' as const),
        skip: fc.integer({ min: 0, max: 60 }),
        wanted: fc.integer({ min: 1, max: 6 }),
        red: fc.constantFrom(undefined, true, false),
        fromShare: fc.constantFrom(1, 1, 0.5, 0.1),
      }),
    },
  );

  test('every page holds what a list without counts would, whatever was removed and counted between', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(aStep, { minLength: 10, maxLength: 50 }),
        fc.integer({ min: 0, max: 60 }),
        fc.constantFrom(1, 4, Number.POSITIVE_INFINITY),
        async (steps, count, itemsPerQuery) => {
          memory.reset();
          memory.itemsPerQuery = itemsPerQuery;
          let seconds = 0;
          now = atSeconds(seconds);
          let held: { name: string; seconds: number; red: boolean }[] = [];
          const add = (at: number, red: boolean): void => {
            const name = `t${String(held.length).padStart(3, '0')}-${at}`;
            if (held.some((one) => one.name === name)) return;
            held.push({ name, seconds: at, red });
            put(name, at, red);
          };
          for (let index = 0; index < count; index++) add(-2_000 - 3 * (index >> 1), index % 4 === 0);
          for (const step of steps) {
            if (step.kind === 'put') {
              if (!step.tie) seconds += 1;
              add(seconds, step.red);
            } else if (step.kind === 'wait') seconds += step.seconds;
            else if (step.kind === 'remove' && held.length > 0) {
              const gone = held[step.which % held.length];
              if (!gone) continue;
              held = held.filter((one) => one !== gone);
              await remove(gone.name, gone.seconds);
            }
            now = atSeconds(seconds);
            if (step.kind !== 'read') continue;
            const oldest = step.fromShare === 1 ? things.bottom : placeOf(seconds - 2_500 * step.fromShare);
            const expected = held
              .filter(({ red }) => step.red === undefined || red === step.red)
              .filter((one) => placeOf(one.seconds) >= oldest)
              .sort((a, b) => (a.seconds === b.seconds ? (a.name > b.name ? -1 : 1) : b.seconds - a.seconds))
              .slice(step.skip, step.skip + step.wanted);
            expect(await namesOf(step.skip, step.wanted, viewOf(step.red, oldest))).toEqual(
              expected.map(({ name }) => name),
            );
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});
