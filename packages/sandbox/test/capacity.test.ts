import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createGate, WAN_CAPACITY } from '../src/capacity.ts';
import { createTasks } from '../src/tasks.ts';
import { anArkVideo, aSandbox, aStudioRequest, aStudioVideo } from './sandbox-client.ts';

const outcomeOf = async (response: Response) => {
  const body = (await response.json()) as { code?: string; error?: { code: string } };
  return [response.status, body.error?.code ?? body.code];
};

describe('a gate', () => {
  const gateAt = (clock: { time: number }, createsPerSecond?: number) =>
    createGate(() => clock.time, createsPerSecond === undefined ? {} : { createsPerSecond });

  test('lets so many creations of a model pass in each second', () => {
    const clock = { time: 0 };
    const gate = gateAt(clock, 2);
    const refused = (model = 'a') => gate.refuses(model, 'a fox', 0);

    expect([refused(), refused(), refused(), refused('b')]).toEqual([false, false, true, false]);
    clock.time = 999;
    expect(refused()).toBe(true);
    clock.time = 1_000;
    expect([refused(), refused(), refused()]).toEqual([false, false, true]);
  });

  test('refuses a busy prompt for its seconds, from the first call on', () => {
    const clock = { time: 50_000 };
    const gate = gateAt(clock);
    const refused = (prompt = 'a fox') => gate.refuses('a', prompt, 2.5);

    expect(refused()).toBe(true);
    clock.time += 2_499;
    expect([refused(), refused('a hen')]).toEqual([true, true]);
    clock.time += 1;
    expect([refused(), refused('a hen')]).toEqual([false, true]);
  });
});

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
  let sandbox: Awaited<ReturnType<typeof aSandbox>>;
  beforeAll(async () => {
    sandbox = await aSandbox({ capacity: { runningTasks: 2, createsPerSecond: 3, whenFull: 'refuse' } });
  });
  afterAll(() => sandbox.close());

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
    const answers = await Promise.all([1, 2, 3, 4].map(() => sandbox.arkImages({ prompt: 'a fox' })));
    const outcomes = await Promise.all(answers.map(outcomeOf));

    expect(outcomes.filter(([status]) => status === 200)).toHaveLength(3);
    expect(outcomes).toContainEqual([429, 'ModelAccountRpmRateLimitExceeded']);
  });
});

describe('a sandbox without limits', () => {
  let sandbox: Awaited<ReturnType<typeof aSandbox>>;
  beforeAll(async () => {
    sandbox = await aSandbox({ outputSeconds: 0 });
  });
  afterAll(() => sandbox.close());

  test('is busy where a prompt says so', async () => {
    const prompt = 'a fox [busy=60]';

    expect(await outcomeOf(await sandbox.arkImages({ prompt }))).toEqual([
      429,
      'ModelAccountRpmRateLimitExceeded',
    ]);
    expect(await outcomeOf(await sandbox.arkVideo(anArkVideo({ prompt })))).toEqual([
      429,
      'ModelAccountRpmRateLimitExceeded',
    ]);
    for (const answer of [
      await sandbox.studioImages(aStudioRequest({ prompt })),
      await sandbox.studioTask(aStudioRequest({ prompt })),
      await sandbox.studioVideo(aStudioVideo({ prompt })),
    ]) {
      expect(await outcomeOf(answer)).toEqual([429, 'Throttling.RateQuota']);
    }
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
