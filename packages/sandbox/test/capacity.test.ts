import { describe, expect, test } from '@jest/globals';
import { WAN_CAPACITY } from '../src/capacity.ts';
import { createTasks } from '../src/tasks.ts';
import {
  anArkVideo,
  aStudioRequest,
  aStudioVideo,
  outcomeOf,
  poll,
  taskIdOf,
  useSandbox,
} from './sandbox-client.ts';

describe('the tasks of a model that runs few at once', () => {
  const tasksAt = (clock: { time: number }) =>
    createTasks<string, string>({ now: () => clock.time, retentionSeconds: 999, runningTasks: 2 });
  const submitTo = (tasks: ReturnType<typeof tasksAt>, lane = 'wan', seconds = 10) =>
    tasks.submit({ about: 'a fox', lane, seconds, queuedSeconds: 0, finish: () => ({ result: 'made' }) });

  test('wait for one of them to end, in order, and each model for its own', () => {
    const clock = { time: 0 };
    const tasks = tasksAt(clock);
    const ids = [1, 2, 3, 4, 5].map(() => submitTo(tasks).id);
    const other = submitTo(tasks, 'other').id;
    const phases = () => ids.map((id) => tasks.find(id)?.phase);

    expect([tasks.isFull('wan'), tasks.isFull('other')]).toEqual([true, false]);
    expect(phases()).toEqual(['running', 'running', 'waiting', 'waiting', 'waiting']);
    expect(tasks.find(other)?.phase).toBe('running');
    clock.time = 10_000;
    expect(phases()).toEqual(['succeeded', 'succeeded', 'running', 'running', 'waiting']);
    clock.time = 29_999;
    expect(phases().at(-1)).toBe('running');
    clock.time = 30_000;
    expect(phases().at(-1)).toBe('succeeded');
  });

  test('move up when one before them is cancelled', () => {
    const clock = { time: 0 };
    const tasks = tasksAt(clock);
    const ids = [1, 2, 3, 4, 5].map(() => submitTo(tasks).id);
    clock.time = 4_000;

    for (const id of ids.slice(2, 4)) expect(tasks.cancel(id)).toBe(true);

    clock.time = 10_000;
    expect(tasks.find(ids[4] ?? '')?.phase).toBe('running');
    clock.time = 20_000;
    expect(tasks.find(ids[4] ?? '')).toMatchObject({
      phase: 'succeeded',
      startedAt: 10_000,
      endedAt: 20_000,
    });
  });
});

describe('a sandbox with limits', () => {
  const sandbox = useSandbox({ capacity: { runningTasks: 2, createsPerSecond: 3, whenFull: 'refuse' } });

  test('refuses the tasks beyond, by the codes of each upstream', async () => {
    const submit = {
      ark: () => sandbox.arkVideo(anArkVideo({ prompt: 'a fox [delay=60]' })),
      studio: () => sandbox.studioVideo(aStudioVideo({ prompt: 'a fox [delay=60]' })),
      images: () => sandbox.studioTask(aStudioRequest({ prompt: 'a fox [delay=60]' })),
    };
    for (const [upstream, code] of [
      ['ark', 'QuotaExceeded'],
      ['studio', 'Throttling.Concurrency'],
      ['images', 'Throttling.Concurrency'],
    ] as const) {
      expect((await submit[upstream]()).status).toBe(200);
      expect((await submit[upstream]()).status).toBe(200);
      expect(await outcomeOf(await submit[upstream]())).toEqual([429, code]);
    }
  });

  test('refuses the calls of a second beyond its rate, by the codes of each upstream', async () => {
    // None is drawn, which could take a slow machine the second.
    const prompt = 'a fox [fail=content_policy]';
    const answers = await Promise.all([1, 2, 3, 4].map(() => sandbox.arkImages({ prompt })));
    const outcomes = await Promise.all(answers.map(outcomeOf));

    expect(outcomes.filter(([status]) => status === 400)).toHaveLength(3);
    expect(outcomes).toContainEqual([429, 'ModelAccountRpmRateLimitExceeded']);
  });
});

/** The outcome of the call that is refused beside another one, which has no answer before the sandbox closes. */
const refusedOfTwo = async (call: (prompt: string) => Promise<Response>) =>
  outcomeOf(await Promise.race([1, 2].map(() => call('a fox [fail=timeout]'))));

describe('a sandbox that takes few calls and tasks at once', () => {
  const sandbox = useSandbox({ maxRunning: 1 });

  test('refuses those beyond, of either kind', async () => {
    const task = () => sandbox.studioVideo(aStudioVideo({ prompt: 'a fox [delay=60]' }));

    expect(await refusedOfTwo((prompt) => sandbox.arkImages({ prompt }))).toEqual([
      ...[429, 'InflightBatchsizeExceeded'],
    ]);
    expect((await task()).status).toBe(200);
    expect(await outcomeOf(await task())).toEqual([429, 'Throttling.Concurrency']);
  });
});

describe('a sandbox that makes few images at once', () => {
  const sandbox = useSandbox({ capacity: { runningCalls: 1 } });

  test('refuses the calls beyond, by the codes of each upstream', async () => {
    for (const [call, code] of [
      [(prompt: string) => sandbox.arkImages({ prompt }), 'InflightBatchsizeExceeded'],
      [(prompt: string) => sandbox.studioImages(aStudioRequest({ prompt })), 'Throttling.Concurrency'],
    ] as const) {
      for (const _ of [1, 2]) expect((await call('a fox')).status).toBe(200);
      expect(await refusedOfTwo(call)).toEqual([429, code]);
    }
  });
});

describe('a sandbox without limits', () => {
  const sandbox = useSandbox({ outputSeconds: 0 });

  test('is busy where a prompt says so', async () => {
    const prompt = 'a fox [busy=all]';

    for (const answer of [
      await sandbox.arkImages({ prompt }),
      await sandbox.arkVideo(anArkVideo({ prompt })),
    ]) {
      expect(await outcomeOf(answer)).toEqual([429, 'ModelAccountRpmRateLimitExceeded']);
    }
    for (const answer of [
      await sandbox.studioImages(aStudioRequest({ prompt })),
      await sandbox.studioTask(aStudioRequest({ prompt })),
      await sandbox.studioVideo(aStudioVideo({ prompt })),
    ]) {
      expect(await outcomeOf(answer)).toEqual([429, 'Throttling.RateQuota']);
    }
  });

  test('says when to try again where a prompt says so, and only there', async () => {
    const asked = await sandbox.studioVideo(aStudioVideo({ prompt: 'a fox [busy=0][retry-after=9]' }));
    const ark = await sandbox.arkImages({ prompt: 'a fox [flaky=1][retry-after=2]' });
    const busy = await sandbox.arkImages({ prompt: 'a fox [busy-for=60]' });
    const plain = await sandbox.arkImages({ prompt: 'a fox [flaky=1]' });

    expect([asked, ark, busy, plain].map(({ headers }) => headers.get('retry-after'))).toEqual([
      ...['9', '2', '1', null],
    ]);
  });

  test('answers the queries of a task with 503, and 401, where a prompt says so', async () => {
    const answersOf = async (directive: string) => {
      const prompt = `a fox ${directive}`;
      const ark = `/api/v3/contents/generations/tasks/${await taskIdOf(await sandbox.arkVideo(anArkVideo({ prompt })))}`;
      const studio = `/api/v1/tasks/${await taskIdOf(await sandbox.studioVideo(aStudioVideo({ prompt })))}`;
      const query = async (path: string) => {
        const answer = await sandbox.call('GET', path);
        return [answer.status, answer.headers.get('retry-after')];
      };
      return [await query(ark), await query(ark), await query(studio), await query(studio)];
    };

    expect(await answersOf('[unavailable=1][retry-after=5]')).toEqual([
      [503, '5'],
      [200, null],
      [503, '5'],
      [200, null],
    ]);
    expect(await answersOf('[revoked]')).toEqual(Array(4).fill([401, null]));
  });

  test('holds back the answer to a creation that it took', async () => {
    const prompt = 'a fox that hangs [hang=60]';
    const hanging = new AbortController();
    const calls = [
      ['/api/v3/contents/generations/tasks', anArkVideo({ prompt }), {}],
      [
        '/api/v1/services/aigc/video-generation/video-synthesis',
        aStudioVideo({ prompt }),
        { 'x-dashscope-async': 'enable' },
      ],
      [
        '/api/v1/services/aigc/image-generation/generation',
        aStudioRequest({ prompt }),
        { 'x-dashscope-async': 'enable' },
      ],
      ['/api/v1/services/aigc/multimodal-generation/generation', aStudioRequest({ prompt }), {}],
    ] as const;
    const answers = calls.map(([path, body, headers]) =>
      fetch(sandbox.url + path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { authorization: 'Bearer test-key', ...headers },
        signal: hanging.signal,
      }).then(
        ({ status }) => status,
        ({ name }) => name,
      ),
    );
    const taken = async () => {
      const answer = await fetch(
        `${sandbox.url}/sandbox/tasks?prompt=${encodeURIComponent('a fox that hangs')}`,
      );
      return ((await answer.json()) as { tasks: unknown[] }).tasks;
    };

    expect(await poll(taken, (tasks) => tasks.length === 3)).toHaveLength(3);
    hanging.abort();
    expect(await Promise.all(answers)).toEqual(Array(4).fill('AbortError'));
  });

  test('reports the input seconds that a prompt says', async () => {
    const created = await sandbox.studioVideo(
      aStudioVideo({ prompt: 'a fox [delay=0][usage=14]', parameters: { duration: 3 } }),
    );

    expect(await sandbox.studioTaskOf(await taskIdOf(created))).toMatchObject({
      usage: { duration: 17, input_video_duration: 14, output_video_duration: 3 },
    });
  });

  test('gives a part of a group where moderation refuses the rest, and counts what it made', async () => {
    const group = {
      model: 'seedream-4-5-251128',
      size: '2048x2048',
      sequential_image_generation: 'auto',
      sequential_image_generation_options: { max_images: 3 },
    };
    const some = await sandbox.arkImages({ ...group, prompt: 'a fox [partial=1]' });
    const none = await sandbox.arkImages({ ...group, prompt: 'a fox [partial=0][partial=1][partial=2]' });

    expect(await some.json()).toMatchObject({
      data: [
        { url: expect.any(String) },
        { error: { code: 'OutputImageSensitiveContentDetected' } },
        { url: expect.any(String) },
      ],
      usage: { generated_images: 2 },
    });
    expect(await outcomeOf(none)).toEqual([400, 'OutputImageSensitiveContentDetected']);
  });

  test('gives fewer images than asked for where moderation refuses some', async () => {
    const request = (prompt: string) => aStudioRequest({ prompt, parameters: { n: 3 } });
    const some = await sandbox.studioImages(request('a fox [partial=0]'));
    const none = await sandbox.studioImages(request('a fox [partial=0][partial=1][partial=2]'));

    const { output, usage } = (await some.json()) as {
      output: { choices: { message: { content: unknown[] } }[] };
      usage: object;
    };
    expect(output.choices[0]?.message.content).toHaveLength(2);
    expect(usage).toMatchObject({ output_image_count: 2 });
    expect(await outcomeOf(none)).toEqual([400, 'DataInspectionFailed']);
  });

  test('lets its URLs expire as early as it is told to', async () => {
    const { data } = (await (await sandbox.arkImages({ prompt: 'a fox' })).json()) as {
      data: { url: string }[];
    };

    expect((await fetch(data[0]?.url ?? '')).status).toBe(404);
  });

  test('knows the limits of Wan', () => {
    expect(WAN_CAPACITY).toEqual({ runningTasks: 5, createsPerSecond: 5 });
  });
});
