import { describe, expect, test } from '@jest/globals';
import { withAccounts } from '../src/accounts.ts';
import { createTaskRate } from '../src/task-rate.ts';
import { anArkVideo, aStudioRequest, aStudioVideo, taskIdOf, useSandbox } from './sandbox-client.ts';

interface Entry {
  task_id: string;
  status: string;
  model_name: string;
}
interface Page {
  data: Entry[];
  total: number;
  total_page: number;
  page_no: number;
  page_size: number;
}

describe("Model Studio's list of tasks", () => {
  const sandbox = useSandbox();
  const list = async (search = '', headers = {}): Promise<Page> =>
    (await (await sandbox.call('GET', `/api/v1/tasks/${search}`, undefined, headers)).json()) as Page;
  const image = async (directives: string): Promise<string> =>
    taskIdOf(await sandbox.studioTask(aStudioRequest({ prompt: `a fox ${directives}` })));

  test('has the states of tasks of all models, the newest first, and no results', async () => {
    const running = await image('[queued=0] [fail=timeout]');
    const pending = await taskIdOf(await sandbox.studioVideo(aStudioVideo({ prompt: 'a fox [queued=60]' })));
    const failed = await image('[delay=0] [fail=content_policy]');
    const made = await image('[delay=0]');

    const { data, ...rest } = await list();

    expect(rest).toEqual({
      request_id: expect.any(String),
      total: 4,
      total_page: 1,
      page_no: 1,
      page_size: 10,
    });
    expect(data.map(({ task_id, status }) => [task_id, status])).toEqual([
      [made, 'SUCCEEDED'],
      [failed, 'FAILED'],
      [pending, 'PENDING'],
      [running, 'RUNNING'],
    ]);
    expect(data[0]).toEqual({
      api_key_id: '1',
      caller_parent_id: '1',
      caller_uid: '1',
      start_time: expect.any(Number),
      end_time: expect.any(Number),
      gmt_create: expect.any(Number),
      model_name: 'qwen-image-3.0-pro',
      region: 'sandbox',
      request_id: expect.any(String),
      status: 'SUCCEEDED',
      task_id: made,
      user_api_unique_key: 'apikey:v1:aigc:image-generation:generation:qwen-image-3.0-pro',
    });
    expect(data[3]).not.toHaveProperty('end_time');
    const named = async (search: string) => (await list(search)).data.map(({ task_id }) => task_id);
    expect(await named('?status=RUNNING')).toEqual([running]);
    expect(await named('?model_name=wan3.0-video')).toEqual([pending]);
    expect(await named(`?task_id=${failed}`)).toEqual([failed]);
    expect(await named('?page_size=3&page_no=2')).toEqual([running]);
    expect(await list('?page_size=3')).toMatchObject({ total: 4, total_page: 2, page_size: 3 });
    expect(await named('?end_time=20200101000000')).toEqual([]);
  });

  test.each([
    '?page_no=0',
    '?page_size=x',
    '?start_time=2026',
    '?start_time=20260101000000&end_time=20260103000000',
  ])('refuses %s', async (search) => {
    expect((await sandbox.call('GET', `/api/v1/tasks/${search}`)).status).toBe(400);
  });

  test('has the tasks of its account alone, which no other key can query', async () => {
    const other = { authorization: 'Bearer test-key@eu' };
    const made = await taskIdOf(
      await sandbox.studioTask(aStudioRequest(), { ...other, 'x-dashscope-async': 'enable' }),
    );

    expect((await list('', other)).data).toMatchObject([{ task_id: made }]);
    expect((await list()).data).not.toContainEqual(expect.objectContaining({ task_id: made }));
    expect(await sandbox.studioTaskOf(made)).toMatchObject({ output: { task_status: 'UNKNOWN' } });
    for (const authorization of ['Bearer other@eu', 'Bearer test-key@', 'Bearer test-key@EU'])
      expect((await sandbox.call('GET', '/api/v1/tasks/', undefined, { authorization })).status).toBe(401);
  });
});

describe('calls about tasks of Model Studio', () => {
  test('are 20 a second for an account, counted apart from those of others', () => {
    let time = 0;
    const rate = createTaskRate(() => time, 20);
    const takenAt = (at: number): number => {
      time = at;
      return Array.from({ length: 30 }, () => rate.hasRoom()).filter((has) => has).length;
    };

    expect([takenAt(0), takenAt(999), takenAt(1_000), takenAt(1_500)]).toEqual([20, 0, 20, 0]);
  });

  const sandbox = useSandbox({ capacity: { taskCallsPerSecond: undefined } });

  test('are refused beyond: queries, lists and cancels together', async () => {
    const path = '/api/v1/tasks/none';
    const calls = Array.from({ length: 24 }, (_, index) => {
      if (index % 3 === 0) return sandbox.call('GET', '/api/v1/tasks/');
      return index % 3 === 1 ? sandbox.call('GET', path) : sandbox.call('POST', `${path}/cancel`);
    });

    const answers = await Promise.all(calls);

    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    expect(await refused[0]?.json()).toMatchObject({ code: 'Throttling.RateQuota' });
    const other = { authorization: 'Bearer test-key@eu' };
    expect((await sandbox.call('GET', '/api/v1/tasks/', undefined, other)).status).toBe(200);
  });
});

describe("ModelArk's list of tasks", () => {
  const sandbox = useSandbox();
  const list = async (search = '') => {
    const answer = await sandbox.call('GET', `/api/v3/contents/generations/tasks${search}`);
    const { items = [], total } = (await answer.json()) as { items?: { id: string }[]; total?: number };
    return { status: answer.status, total, ids: items.map(({ id }) => id), items };
  };

  test('has whole tasks, by ids, status and page', async () => {
    const video = async (directives: string): Promise<string> =>
      taskIdOf(await sandbox.arkVideo(anArkVideo({ prompt: `a fox ${directives}` })));
    const running = await video('[queued=0] [fail=timeout]');
    const made = await video('[delay=0]');
    const queued = await video('[queued=60]');

    expect(await list()).toMatchObject({ total: 3, ids: [queued, made, running] });
    expect((await list(`?filter.task_ids=${made}`)).items).toEqual([await sandbox.arkTask(made)]);
    expect(
      (await list(`?filter.task_ids=${running}&filter.task_ids=${made}&filter.task_ids=none`)).ids,
    ).toEqual([made, running]);
    expect((await list('?filter.status=queued')).ids).toEqual([queued]);
    expect(await list('?page_size=2&page_num=2')).toMatchObject({ total: 3, ids: [running] });
    expect((await list('?page_size=501')).status).toBe(400);
  });
});

describe('an upstream with accounts', () => {
  test('is made once for each of them', () => {
    const made: string[] = [];
    const errors = {} as Parameters<typeof withAccounts>[1] extends (key: string) => infer U
      ? U extends { errors: infer E }
        ? E
        : never
      : never;
    const upstream = withAccounts('key', (apiKey) => {
      made.push(apiKey);
      return {
        prefix: '/',
        routes: [],
        newRequestId: () => '',
        checkKey: () => undefined,
        renderError: () => '',
        errors,
      };
    });

    for (const key of ['key', 'key@eu', 'key@eu', 'other@eu'])
      upstream.checkKey({ authorization: `Bearer ${key}` }, '/');

    expect(made).toEqual(['key', 'key@eu']);
  });
});
