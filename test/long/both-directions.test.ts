import { beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { DIRECTIONS, type Played, playRelease } from '../releases/continued.ts';
import { findLastRelease } from '../releases/last-release.ts';
import { type Recorded, recordTree } from '../releases/recorded.ts';
import {
  answerOfNextRelease,
  nextDefinitions,
  nextItem,
  presentTask,
} from '../simulation/world/next-release.ts';
import { definitionFiles, definitionText, statesOf } from '../workflow/asl.ts';

/** Programs, one after the other, that take some 10 s each. */
const TIMEOUT_MS = 170_000;

/** What a release stores and passes on, and its definitions by state machine. */
type Release = Recorded & { definitions: ReadonlyMap<string, string> };

/** The releases before this one and after. There is no last one before the first release. */
const OTHERS = findLastRelease() ? (['last', 'next'] as const) : (['next'] as const);
const releases = new Map<string, Release>();
const played = new Map<string, Played>();

/** The next release, made of this one as the rules for its changes allow. */
const nextOf = ({ items, table, steps, schemas, definitions }: Release): Release => ({
  items: items.map(({ entity, item }) => ({ entity, item: nextItem(item) })),
  table: { ...table, items: table.items.map(nextItem) },
  steps: steps.map(({ task, payload, result }) => ({
    ...{ task, payload },
    result: answerOfNextRelease(result, payload) as typeof result,
  })),
  schemas,
  definitions: nextDefinitions(definitions),
});

beforeAll(async () => {
  const definitions = definitionFiles().map(
    (file) => [file.replace('.asl.json', ''), definitionText(file)] as const,
  );
  const now = { ...(await recordTree()), definitions: new Map(definitions) };
  releases.set('this', now).set('next', nextOf(now));
  const last = findLastRelease();
  if (last) releases.set('last', last);
  for (const other of OTHERS)
    played.set(other, await playRelease({ table: releaseOf(other).table, directions: DIRECTIONS[other] }));
}, TIMEOUT_MS);

const releaseOf = (name: string): Release => {
  const release = releases.get(name);
  if (!release) throw new Error(`There is no ${name} release.`);
  return release;
};

/** The tasks of a definition, each with its function by its present name. */
const tasksOf = (text: string) =>
  statesOf(JSON.parse(text)).flatMap(([, { Parameters }]) => {
    const stem = /^\$\{(\w+)Arn\}$/.exec(Parameters?.FunctionName ?? '')?.[1];
    const name = stem?.replace(/\B[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
    return name === undefined ? [] : [{ task: presentTask(name), payload: Parameters?.Payload ?? {} }];
  });

/** For each task function, the steps for which a definition has a choice. */
const choicesOf = ({ definitions }: Release): Map<string, Set<unknown>> =>
  new Map(
    [...definitions.values()].flatMap((text) => {
      const choices = statesOf(JSON.parse(text)).flatMap(([, { Choices = [] }]) =>
        Choices.map((choice) => choice.StringEquals),
      );
      return tasksOf(text).map(({ task }) => [task, new Set<unknown>(choices)] as const);
    }),
  );

/** Steps of the default: the request fails, or the execution ends. */
const LEFT_OVER = ['fail', 'give-up', 'stop'];

/** The names of all that a definition passes to a task function, by function. */
const payloadsOf = ({ definitions }: Release): Map<string, string[]> =>
  new Map(
    [...definitions.values()]
      .flatMap(tasksOf)
      .map(({ task, payload }) => [task, Object.keys(payload).toSorted()]),
  );

const answersOf = ({ steps }: Release) =>
  steps.flatMap(({ task, result }) => (result?.next === undefined ? [] : [[task, result.next] as const]));

const unknownTo = (release: Release, answers: readonly (readonly [string, unknown])[]) =>
  answers.filter(([task, next]) => {
    const choices = choicesOf(release).get(task);
    return choices && !choices.has(next) && !LEFT_OVER.includes(String(next));
  });

describe.each(OTHERS)('a definition of one release and a function of the %s', (name) => {
  test('know the same steps', () => {
    const [now, other] = [releaseOf('this'), releaseOf(name)];
    expect(answersOf(now).length).toBeGreaterThan(8);
    expect(answersOf(other).length).toBeGreaterThan(8);

    expect(unknownTo(other, answersOf(now))).toEqual([]);
    expect(unknownTo(now, answersOf(other))).toEqual([]);
  });

  test('pass on all that the other reads', () => {
    const [now, other] = [payloadsOf(releaseOf('this')), payloadsOf(releaseOf(name))];

    expect(now.size).toBeGreaterThan(10);
    expect(now).toEqual(other);
  });
});

/** What the last release does not find after a roll-back, by entity: the start of the partition key, before and now. The changelog says so. */
const MOVED: Record<string, [string | undefined, string | undefined]> = {};

describe.each(OTHERS)('this release and the %s', (name) => {
  const ajv = new Ajv2020({ strict: false });

  const refusedBy = ({ schemas }: Release, { items }: Release) => {
    const checks = new Map(Object.entries(schemas).map(([entity, schema]) => [entity, ajv.compile(schema)]));
    return items.flatMap(({ entity, item }) => {
      const check = checks.get(entity);
      return check && !check(item) ? [{ entity, item, errors: check.errors }] : [];
    });
  };

  test('can read every item of the other', () => {
    const [now, other] = [releaseOf('this'), releaseOf(name)];

    expect(refusedBy(other, now)).toEqual([]);
    expect(refusedBy(now, other)).toEqual([]);
    expect(new Set(now.items.map(({ entity }) => entity))).toEqual(
      new Set(other.items.map(({ entity }) => entity)),
    );
  });

  test('would notice an item that the other cannot read', () => {
    const request = releaseOf('this').items.find(({ entity }) => entity === 'request')?.item;

    expect(ajv.validate(releaseOf(name).schemas.request ?? false, { ...request, status: 'parked' })).toBe(
      false,
    );
  });

  test('find all items where they look for them, but those that the changelog names', () => {
    const partitions = ({ items }: Release) =>
      new Map(items.map(({ entity, item }) => [entity, String(item.PK).replace(/#.*/s, '')]));
    const [before, today] = [partitions(releaseOf(name)), partitions(releaseOf('this'))];
    const moved = [...new Set([...before.keys(), ...today.keys()])]
      .filter((entity) => before.get(entity) !== today.get(entity))
      .map((entity) => [entity, [before.get(entity), today.get(entity)]]);

    expect(Object.fromEntries(moved)).toEqual(MOVED);
  });
});

describe.each(OTHERS)('on the table that the %s release left', (name) => {
  test('every request can be read, and every list', () => {
    const { answers, unreadable } = played.get(name)?.continued ?? {};
    const { reads = [], lists = [] } = answers ?? {};

    expect(reads.length).toBeGreaterThan(20);
    expect(new Set([...reads, ...lists])).toEqual(new Set([200]));
    expect(unreadable).toBe(0);
  });

  test('requests under way come to their end, are paid for once or refunded, and their webhooks are sent', () => {
    expect(played.get(name)?.continued).toMatchObject({ open: 6, problems: [], told: 5 });
  });

  test('no update drops an attribute that this release does not know', () => {
    expect(played.get(name)?.continued.cut).toEqual([]);
  });
});

const CROSSED = OTHERS.flatMap((other) =>
  Object.entries(DIRECTIONS[other]).map(([direction, deployed]) => ({ other, direction, deployed })),
);

describe.each(CROSSED)(
  'a deployment in the middle of work, $direction,',
  ({ other, direction, deployed }) => {
    test('meets executions that wait for a provider, for capacity, for a busy provider and for a receiver', () => {
      const running = new Set(played.get(other)?.crossed[direction]?.flatMap((crossed) => crossed.running));

      expect([...running]).toEqual(
        expect.arrayContaining([
          'Dispatch request',
          'Wait for provider',
          'Wait for capacity',
          'Wait for busy provider',
          'Wait for next attempt',
        ]),
      );
    });

    test('lets each of them go on as if nothing had happened, on the definition that it began with', () => {
      expect(played.get(other)?.crossed[direction]).toHaveLength(5);
      for (const { statuses, executions, told, releasesAtOnce } of played.get(other)?.crossed[direction] ??
        []) {
        // The third is refused by its provider.
        expect(statuses).toEqual([
          ...['succeeded', 'succeeded', 'failed', 'succeeded', 'succeeded', 'succeeded'],
          ...Array(deployed.length - 1).fill('succeeded'),
        ]);
        expect(releasesAtOnce).toBe(new Set(deployed).size);
        expect(executions).toEqual(statuses.map((status) => (status === 'failed' ? 'FAILED' : 'SUCCEEDED')));
        expect(told).toBe(3);
      }
    });
  },
);
