import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../core/observability.ts';
import type { InTurn, Provider, TaskListing } from '../../../core/provider-calls/providers.ts';
import { Fal } from '../../../providers/fal/fal.ts';
import { ModelArk } from '../../../providers/modelark/modelark.ts';
import { ModelStudio } from '../../../providers/modelstudio/modelstudio.ts';
import { metricsCounted } from '../fakes/metrics.ts';
import { aClosedUrl } from '../servers/loopback-server.ts';
import { adapterOf, patient, server } from './conformance/server.ts';

const atOnce: InTurn = (call) => call(patient());
const list = (adapter: Provider, ...ids: string[]): Promise<TaskListing | undefined> =>
  Promise.resolve(adapter.list?.(ids, atOnce));
/** What the server answers each call with, by its query. */
const answerBy = (bodyOf: (query: URLSearchParams) => unknown): void => {
  server.respond = ({ path }, response) => {
    response.writeHead(200).end(JSON.stringify(bodyOf(new URL(`http://a${path}`).searchParams)));
  };
};
const paths = (): string[] => server.requests.map(({ path }) => path);

beforeEach(() => {
  server.requests.length = 0;
});
afterAll(() => server.close());

describe("Model Studio's list", () => {
  const studio = () => adapterOf(ModelStudio);
  const entry = (task_id: string, status: string) => ({
    ...{ task_id, status, model_name: 'qwen-image-3.0-pro', gmt_create: 1_745_568_428_109 },
  });
  const page = (status: string, ids: readonly string[], rest: object = { total_page: 1 }) => ({
    ...{ request_id: 'r-1', data: ids.map((id) => entry(id, status)), page_no: 1, page_size: 100 },
    ...rest,
  });

  test('is of the unfinished tasks: one call for each status, with the key', async () => {
    answerBy((query) =>
      query.get('status') === 'RUNNING' ? page('RUNNING', ['a', 'b']) : page('PENDING', ['c']),
    );

    expect(await list(studio(), 'a', 'x')).toEqual({
      kind: 'listed',
      unfinished: new Set(['a', 'b', 'c']),
      isComplete: true,
    });
    expect(paths()).toEqual([
      '/api/v1/tasks/?status=RUNNING&page_no=1&page_size=100',
      '/api/v1/tasks/?status=PENDING&page_no=1&page_size=100',
    ]);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer secret-key');
  });

  test('is asked at once for as many pages as the tasks fill that run at most', async () => {
    answerBy((query) => page(String(query.get('status')), [], { total_page: 1 }));

    expect(await list(studio(), ...Array.from({ length: 201 }, (_, index) => `${index}`))).toMatchObject({
      isComplete: true,
    });
    expect(paths().filter((path) => path.includes('RUNNING'))).toHaveLength(3);
    expect(paths()).toHaveLength(4);
  });

  test('goes on to its last page, and is incomplete beyond the tenth', async () => {
    for (const [total_page, isComplete] of [
      [3, true],
      [11, false],
    ] as const) {
      answerBy((query) =>
        page('RUNNING', [`${query.get('status')} ${query.get('page_no')}`], { total_page }),
      );

      const told = await list(studio());

      expect(told).toMatchObject({ kind: 'listed', isComplete });
      expect(told?.kind === 'listed' && told.unfinished.size).toBe(2 * Math.min(total_page, 10));
    }
  });

  test('goes on to the last page that any of its pages tells: the list may grow meanwhile', async () => {
    for (const totals of [
      [2, 3, 3],
      [3, 2, 2],
    ]) {
      server.requests.length = 0;
      answerBy((query) =>
        query.get('status') === 'RUNNING'
          ? page('RUNNING', [`${query.get('page_no')}`], {
              total_page: totals[Number(query.get('page_no')) - 1],
            })
          : page('PENDING', []),
      );

      expect(await list(studio(), ...Array(101).fill('a'))).toMatchObject({
        ...{ unfinished: new Set(['1', '2', '3']), isComplete: true },
      });
    }
  });

  test('is not known where a page, or either of its statuses, cannot be read', async () => {
    const broken = [
      (query: URLSearchParams) => query.get('status') === 'PENDING',
      (query: URLSearchParams) => query.get('status') === 'RUNNING' && query.get('page_no') === '2',
    ];
    for (const isBroken of broken) {
      answerBy((query) => (isBroken(query) ? { data: 7 } : page('RUNNING', ['a'], { total_page: 2 })));

      expect(await list(studio(), 'a')).toEqual({ kind: 'refused' });
    }
  });

  test.each([
    [0, 1],
    [1, 1],
    [100, 1],
    [101, 2],
    [1_000, 10],
    [1_001, 10],
    [5_000, 10],
  ])('of %i tasks is first asked for in %i pages', async (tasks, pages) => {
    answerBy((query) => page(String(query.get('status')), [], { total_page: 1 }));
    await list(studio(), ...Array.from({ length: tasks }, (_, index) => `${index}`));

    expect(paths().filter((path) => path.includes('RUNNING'))).toHaveLength(pages);
  });

  test.each([
    ['that tells no number of pages and is short', page('RUNNING', ['a'], {}), true],
    ['that tells no number of pages and is full', page('RUNNING', Array(100).fill('a'), {}), false],
    ['without tasks', page('RUNNING', [], { total_page: 0 }), true],
  ])('%s', async (_, body, isComplete) => {
    answerBy(() => body);

    expect(await list(studio())).toMatchObject({ isComplete });
  });

  test('takes a task for unfinished by its own status, whatever was asked for', async () => {
    answerBy(() => ({
      data: [
        entry('ended', 'SUCCEEDED'),
        entry('runs', 'RUNNING'),
        entry('in no known state', 'SUSPENDED'),
        { task_id: 'odd' },
        { status: 'RUNNING' },
      ],
      total_page: 1,
    }));

    expect(await list(studio())).toMatchObject({ unfinished: new Set(['runs']) });
  });
});

describe("ModelArk's list", () => {
  test('is of the tasks that it is asked for, 50 a call', async () => {
    const ids = Array.from({ length: 51 }, (_, index) => `cgt ${index}`);
    answerBy((query) => ({
      items: query.getAll('filter.task_ids').map((id) => ({
        id,
        status:
          { 'cgt 0': 'queued', 'cgt 1': 'succeeded', 'cgt 2': 'paused', 'cgt 50': 'running' }[id] ?? 'failed',
      })),
      total: 1,
    }));

    expect(await list(adapterOf(ModelArk), ...ids)).toEqual({
      kind: 'listed',
      unfinished: new Set(['cgt 0', 'cgt 50']),
      isComplete: true,
    });
    expect(paths()[1]).toBe('/contents/generations/tasks?page_num=1&page_size=50&filter.task_ids=cgt%2050');
  });
});

describe("each of ModelArk's calls", () => {
  test.each([0, 1, 50, 51, 100, 101])('has at most 50 of %i tasks', async (tasks) => {
    answerBy(() => ({ items: [] }));
    await list(adapterOf(ModelArk), ...Array.from({ length: tasks }, (_, index) => `${index}`));

    const counts = paths().map((path) => path.split('filter.task_ids=').length - 1);
    expect(counts).toEqual(
      Array.from({ length: Math.ceil(tasks / 50) }, (_, index) => Math.min(50, tasks - 50 * index)),
    );
  });

  test('tells of tasks that have an id and a known state', async () => {
    answerBy(() => ({
      items: [
        { id: 'a', status: 'queued' },
        { id: null, status: 'running' },
        { id: 'b' },
        { id: 'c', status: null },
      ],
    }));

    expect(await list(adapterOf(ModelArk), 'a')).toMatchObject({ unfinished: new Set(['a']) });
  });

  test('that is refused tells that there is no list, though the others are told', async () => {
    server.respond = ({ path }, response) => {
      const isLast = path.includes('=50');
      response.writeHead(isLast ? 403 : 200).end(JSON.stringify({ items: [{ id: '0', status: 'running' }] }));
    };

    expect(await list(adapterOf(ModelArk), ...Array.from({ length: 51 }, (_, index) => `${index}`))).toEqual({
      kind: 'refused',
    });
  });
});

test('fal has no list', () => {
  expect(adapterOf(Fal).list).toBeUndefined();
});

describe.each([
  ['Model Studio', ModelStudio],
  ['ModelArk', ModelArk],
])('a list of %s', (_, Adapter) => {
  test.each([
    [429, '{}', { kind: 'busy', retryAfterSeconds: 7 }],
    [503, '<html>', { kind: 'busy', retryAfterSeconds: 7 }],
    [408, '', { kind: 'busy', retryAfterSeconds: 7 }],
    [401, '{}', { kind: 'refused' }],
    [404, '<html>', { kind: 'refused' }],
    [200, '{"data":7,"items":7}', { kind: 'refused' }],
    [200, 'garbage', { kind: 'refused' }],
  ])('that is answered with %p %s counts for no alarm', async (status, body, told) => {
    const counted = metricsCounted();
    server.answer(status, body, { 'retry-after': '7' });

    expect(await list(adapterOf(Adapter), 'a')).toEqual(told);
    expect(counted()).toEqual([]);
  });

  test('that cannot be read is logged by its shape, and one that is refused is not', async () => {
    const logged = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    server.answer(200, { data: 7, items: 7, odd: 'a fox' });
    await list(adapterOf(Adapter), 'a');
    server.answer(403, { data: 8 });
    await list(adapterOf(Adapter), 'a');

    expect(logged.mock.calls).toEqual([
      [
        'provider answer unreadable',
        expect.objectContaining({ operation: 'list', shape: '{data:number,items:number,odd:string}' }),
      ],
    ]);
    logged.mockRestore();
  });

  test('that is not answered is busy', async () => {
    expect(await list(adapterOf(Adapter, await aClosedUrl()), 'a')).toEqual({ kind: 'busy' });
  });
});
