import { beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { continueLastRelease, DIRECTIONS } from '../releases/continued.ts';
import { readLastRelease } from '../releases/last-release.ts';
import { type Recorded, recordTree } from '../releases/recorded.ts';
import { definitionFiles, definitionText, statesOf } from '../workflow/asl.ts';

/** Both programs take some 10 s. */
const TIMEOUT_MS = 110_000;

const last = readLastRelease();
let now: Recorded;
let played: Awaited<ReturnType<typeof continueLastRelease>>;
beforeAll(async () => {
  [now, played] = await Promise.all([recordTree(), continueLastRelease()]);
}, TIMEOUT_MS);

/** Definitions of a release by state machine. */
const definitionsNow = new Map(
  definitionFiles().map((file) => [file.replace('.asl.json', ''), definitionText(file)]),
);

/** For each task function, the steps for which a definition has a choice. */
const choicesOf = (definitions: ReadonlyMap<string, string>): Map<string, Set<unknown>> =>
  new Map(
    [...definitions.values()].flatMap((text) => {
      const states = statesOf(JSON.parse(text));
      const choices = states.flatMap(([, { Choices = [] }]) => Choices.map((choice) => choice.StringEquals));
      return states.flatMap(([, { Parameters }]) => {
        const stem = /^\$\{(\w+)Arn\}$/.exec(Parameters?.FunctionName ?? '')?.[1];
        const task = stem?.replace(/\B[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
        return task === undefined ? [] : [[task, new Set<unknown>(choices)] as const];
      });
    }),
  );

/** Steps of the default: the request fails, or the execution ends. */
const LEFT_OVER = ['fail', 'give-up', 'stop'];

/** The names of all that a task function is passed, by function; of the whole state, nothing. */
const payloadsOf = (steps: Recorded['steps']): Map<string, Set<string>> => {
  const names = new Map<string, Set<string>>();
  for (const { task, payload } of steps) {
    if (task === 'list-ledgers') continue;
    const known = names.get(task) ?? new Set();
    names.set(task, new Set([...known, ...Object.keys(payload as object)]));
  }
  return names;
};

describe('a definition of one release and a function of the other', () => {
  const answersOf = ({ steps }: Pick<Recorded, 'steps'>) =>
    steps.flatMap(({ task, result }) => (result?.next === undefined ? [] : [[task, result.next] as const]));

  const unknownTo = (
    definitions: ReadonlyMap<string, string>,
    answers: readonly (readonly [string, unknown])[],
  ) =>
    answers.filter(([task, next]) => {
      const choices = choicesOf(definitions).get(task);
      return choices && !choices.has(next) && !LEFT_OVER.includes(String(next));
    });

  test('know the same steps', () => {
    expect(answersOf(now).length).toBeGreaterThan(8);
    expect(answersOf(last).length).toBeGreaterThan(8);

    expect(unknownTo(last.definitions, answersOf(now))).toEqual([]);
    expect(unknownTo(definitionsNow, answersOf(last))).toEqual([]);
  });

  test('pass on all that the other reads', () => {
    const [today, before] = [payloadsOf(now.steps), payloadsOf(last.steps)];

    expect([...today.keys()].toSorted()).toEqual([...before.keys()].toSorted());
    for (const [task, names] of before) {
      // Only the known steps are new, and may be absent.
      expect([task, [...(today.get(task) ?? [])].filter((name) => name !== 'knownSteps').toSorted()]).toEqual(
        [task, [...names].filter((name) => name !== 'knownSteps').toSorted()],
      );
    }
  });
});

/**
 * What the last release does not find after a roll-back, by entity: the start of the partition key, before and now. The changelog says
 * what follows from each.
 */
const MOVED: Record<string, [string | undefined, string | undefined]> = {
  'deleted-request': ['LEDGER', 'DELETED'],
  'webhook-attempt': ['REQUEST', 'WEBHOOK_ATTEMPTS'],
  deleted: [undefined, 'WEBHOOK_ATTEMPTS'],
};

describe('after a roll-back', () => {
  const ajv = new Ajv2020({ strict: false });

  test('the last release can read every item of this one', () => {
    const checks = new Map(
      Object.entries(last.schemas).map(([entity, schema]) => [entity, ajv.compile(schema)]),
    );
    const refused = now.items.flatMap(({ entity, item }) => {
      const check = checks.get(entity);
      return check && !check(item) ? [{ entity, item, errors: check.errors }] : [];
    });

    expect(refused).toEqual([]);
    expect(new Set(now.items.map(({ entity }) => entity))).toEqual(
      new Set([...last.items.map(({ entity }) => entity), 'deleted']),
    );
  });

  test('the last release would notice an item that it cannot read', () => {
    const request = now.items.find(({ entity }) => entity === 'request')?.item;

    expect(ajv.validate(last.schemas.request ?? false, { ...request, status: 'parked' })).toBe(false);
  });

  test('the last release finds all items where it looks for them, but those that the changelog names', () => {
    const places = ({ items }: Pick<Recorded, 'items'>) =>
      new Map(items.map(({ entity, item }) => [entity, String(item.PK).replace(/#.*/s, '')]));
    const [before, today] = [places(last), places(now)];
    const moved = [...new Set([...before.keys(), ...today.keys()])]
      .filter((entity) => before.get(entity) !== today.get(entity))
      .map((entity) => [entity, [before.get(entity), today.get(entity)]]);

    expect(Object.fromEntries(moved)).toEqual(MOVED);
  });
});

describe('on the table that the last release left', () => {
  test('every request can be read, and every list', () => {
    const { reads = [], lists = [] } = played.table.answers;

    expect(reads.length).toBeGreaterThan(20);
    expect(new Set([...reads, ...lists])).toEqual(new Set([200]));
    expect(played.table.unreadable).toBe(0);
  });

  test('requests under way come to their end, are paid for once or refunded, and their webhooks are sent', () => {
    expect(played.table).toMatchObject({ open: 6, problems: [], told: 5 });
  });
});

describe.each(DIRECTIONS)('a deployment in the middle of work, %s,', (direction) => {
  test('meets executions that wait for a provider, for capacity, for a busy provider and for a receiver', () => {
    const running = new Set(played[direction].flatMap((crossed) => crossed.running));

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
    const deployments = direction.startsWith('twice') ? 2 : 1;
    for (const { statuses, executions, told, releasesAtOnce } of played[direction]) {
      // The third is refused by its provider.
      expect(statuses).toEqual([
        ...['succeeded', 'succeeded', 'failed', 'succeeded', 'succeeded', 'succeeded'],
        ...Array(deployments).fill('succeeded'),
      ]);
      expect(releasesAtOnce).toBe(1 + deployments);
      expect(new Set(executions)).toEqual(new Set(['SUCCEEDED']));
      expect(told).toBe(3);
    }
  });
});
