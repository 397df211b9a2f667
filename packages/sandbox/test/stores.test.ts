import { describe, expect, test } from '@jest/globals';
import { createCallCounter } from '../src/call-counter.ts';
import { createLimiter } from '../src/limiter.ts';
import { paddingOf } from '../src/media/mp4-padding.ts';
import { PLAIN_MEDIA } from '../src/media/plain-media.ts';
import { createOutputs, type StoredOutput } from '../src/outputs.ts';
import { createTaskJournal } from '../src/task-journal.ts';
import { createTasks } from '../src/tasks.ts';

const HOUR_MILLISECONDS = 3_600_000;

const aClock = () => {
  let time = 0;
  return {
    now: () => time,
    advance: (milliseconds: number) => {
      time += milliseconds;
    },
  };
};

const fileNameOf = (url: string) => url.slice(url.lastIndexOf('/') + 1);

describe('the outputs', () => {
  const anOutput = () => {
    let timesMade = 0;
    const source = {
      contentType: 'text/plain',
      extension: 'txt',
      produce: async () => {
        timesMade += 1;
        return Buffer.from('content');
      },
    };
    return { source, timesMade: () => timesMade };
  };

  test('expire after 24 hours', () => {
    const clock = aClock();
    const outputs = createOutputs({ baseUrl: 'http://here/outputs', now: clock.now, media: PLAIN_MEDIA });
    clock.advance(HOUR_MILLISECONDS);
    const name = fileNameOf(outputs.add(anOutput().source, { madeAt: 0 }));

    clock.advance(23 * HOUR_MILLISECONDS - 1);
    expect(outputs.find(name)).toMatchObject({ contentType: 'text/plain' });

    clock.advance(1);
    expect(outputs.find(name)).toEqual({ status: 404 });
  });

  test('are produced on the first read, once for concurrent and later readers', async () => {
    const { source, timesMade } = anOutput();
    const outputs = createOutputs({ baseUrl: 'http://here/outputs', now: Date.now, media: PLAIN_MEDIA });
    const name = fileNameOf(outputs.add(source));
    expect(timesMade()).toBe(0);

    const read = () => (outputs.find(name) as StoredOutput).read();
    const together = await Promise.all([read(), read()]);
    const later = await read();

    const textOf = (content: (typeof together)[number]) => String(Buffer.concat([...content.chunks()]));
    expect([...together, later].map(textOf)).toEqual(['content', 'content', 'content']);
    expect(later.sizeBytes).toBe(7);
    expect(timesMade()).toBe(1);
  });

  const NO_FAULT = { isBroken: false, isHalf: false, lateSeconds: 0 };

  test('have a URL but no content when broken', () => {
    const outputs = createOutputs({ baseUrl: 'http://here/outputs', now: Date.now, media: PLAIN_MEDIA });

    const url = outputs.add(anOutput().source, { fault: { ...NO_FAULT, isBroken: true } });

    expect(url).toMatch(/^http:\/\/here\/outputs\/[0-9a-f-]{36}\.txt$/);
    expect(outputs.find(fileNameOf(url))).toEqual({ status: 410 });
  });

  test('are absent until they are no longer late', () => {
    const clock = aClock();
    const outputs = createOutputs({ baseUrl: 'http://here/outputs', now: clock.now, media: PLAIN_MEDIA });
    const name = fileNameOf(outputs.add(anOutput().source, { fault: { ...NO_FAULT, lateSeconds: 3 } }));

    clock.advance(2_999);
    expect(outputs.find(name)).toEqual({ status: 404 });
    clock.advance(1);
    expect(outputs.find(name)).toMatchObject({ contentType: 'text/plain' });
  });

  test('end half way, and say that this is all', async () => {
    const outputs = createOutputs({ baseUrl: 'http://here/outputs', now: Date.now, media: PLAIN_MEDIA });
    const name = fileNameOf(outputs.add(anOutput().source, { fault: { ...NO_FAULT, isHalf: true } }));

    const { sizeBytes, chunks } = await (outputs.find(name) as StoredOutput).read();

    expect(sizeBytes).toBe(3);
    expect(String(Buffer.concat([...chunks()]))).toBe('con');
  });
});

describe('the tasks', () => {
  const tasksOf = (clock: ReturnType<typeof aClock>) =>
    createTasks<string, string>({ now: clock.now, retentionSeconds: 60 });

  test('wait, run and finish by the clock', () => {
    const clock = aClock();
    const tasks = tasksOf(clock);
    const finishedAt: number[] = [];
    const finish = (endedAt: number) => {
      finishedAt.push(endedAt);
      return { result: 'made' };
    };
    const { id } = tasks.submit({ about: 'a fox', seconds: 10, finish });

    expect(tasks.find(id)?.phase).toBe('waiting');
    clock.advance(1_000);
    expect(tasks.find(id)).toMatchObject({ phase: 'running', startedAt: 1_000 });
    clock.advance(20_000);
    const ended = { phase: 'succeeded', startedAt: 1_000, endedAt: 10_000, result: 'made' };
    expect(tasks.find(id)).toMatchObject(ended);
    expect(tasks.find(id)).toMatchObject(ended);
    expect(finishedAt).toEqual([10_000]);
  });

  test('tell when they change, and their state at that instant', () => {
    const clock = aClock();
    const tasks = tasksOf(clock);
    const submit = (seconds: number) =>
      tasks.submit({ about: 'a fox', seconds, finish: () => ({ result: 'made' }) });
    const { id, changesAt } = submit(10);
    clock.advance(30_000);

    expect(changesAt).toEqual([0, 1_000, 10_000]);
    expect(changesAt.map((instant) => tasks.find(id, instant)?.phase)).toEqual([
      'waiting',
      'running',
      'succeeded',
    ]);
    expect(submit(0).changesAt).toEqual([30_000]);
    expect(submit(Infinity).changesAt).toEqual([30_000, 31_000]);
  });

  test('wait for as long as they are queued, and then run for all their seconds', () => {
    const clock = aClock();
    const tasks = tasksOf(clock);
    const { id, changesAt } = tasks.submit({
      ...{ about: 'a fox', seconds: 10, queuedSeconds: 20 },
      finish: () => ({ result: 'made' }),
    });

    expect(changesAt).toEqual([0, 20_000, 30_000]);
    clock.advance(19_999);
    expect(tasks.find(id)?.phase).toBe('waiting');
    clock.advance(1);
    expect(tasks.find(id)?.phase).toBe('running');
  });

  test('are forgotten a day after they were cancelled', () => {
    const clock = aClock();
    const tasks = createTasks<string, string>({ now: clock.now, retentionSeconds: 7 * 24 * 3600 });
    const { id } = tasks.submit({ about: 'a fox', seconds: 10, finish: () => ({ result: 'made' }) });
    tasks.cancel(id);

    clock.advance(24 * HOUR_MILLISECONDS - 1);
    expect(tasks.find(id)?.phase).toBe('cancelled');
    clock.advance(1);
    expect(tasks.find(id)).toBeUndefined();
  });
});

describe('the call counter', () => {
  test('counts each key separately and evicts the least recently used', () => {
    const counter = createCallCounter(2);

    expect(['a', 'a', 'b', 'a', 'c', 'a', 'b'].map((key) => counter.next(key))).toEqual([
      0, 1, 0, 2, 0, 3, 0,
    ]);
  });
});

describe('the task journal', () => {
  const aTask = (id: string, prompt = 'a fox') => ({
    id,
    prompt,
    upstream: 'modelark' as const,
    model: 'sandbox-xw3-pro',
  });

  test('counts the queries of each task and keeps its callbacks in order', () => {
    const journal = createTaskJournal();
    const attempt = { status: 'queued', attempt: 1, sentAt: '2026-11-20T09:00:00.000Z', answer: 200 };
    journal.add(aTask('one'));
    journal.add(aTask('two'));

    journal.countQuery('one');
    journal.countQuery('one');
    journal.countQuery('unknown');
    journal.countCancel('one');
    journal.countCancel('unknown');
    journal.addCallback('one', attempt);
    journal.addCallback('one', { ...attempt, attempt: 2 });
    journal.addCallback('unknown', attempt);

    expect(journal.find('one')).toEqual({
      ...aTask('one'),
      queries: 2,
      cancels: 1,
      callbacks: [attempt, { ...attempt, attempt: 2 }],
    });
    expect(journal.find('two')).toEqual({ ...aTask('two'), queries: 0, cancels: 0, callbacks: [] });
    expect(journal.find('unknown')).toBeUndefined();
  });

  test('lists by a substring of the prompt, newest first, and evicts the oldest', () => {
    const journal = createTaskJournal(3);
    for (const [id, prompt] of [
      ['1', 'a fox'],
      ['2', 'a fox'],
      ['3', 'a bear'],
      ['4', 'two foxes'],
    ] as const) {
      journal.add(aTask(id, prompt));
    }

    expect(journal.list('fox').map(({ id }) => id)).toEqual(['4', '2']);
    expect(journal.list('').map(({ id }) => id)).toEqual(['4', '3', '2']);
  });
});

describe('the padding of an MP4', () => {
  const boxOf = (fileBytes: number, wantedBytes: number) =>
    Buffer.concat([...paddingOf(fileBytes, wantedBytes).chunks()]);

  test.each([
    [100, 108],
    [100, 109],
    [100, 100_000],
    [100, 3 * 65_536 + 108],
  ])('extends %i bytes to %i with one free box', (fileBytes, wantedBytes) => {
    const box = boxOf(fileBytes, wantedBytes);

    expect(paddingOf(fileBytes, wantedBytes).sizeBytes).toBe(wantedBytes - fileBytes);
    expect(box.length).toBe(wantedBytes - fileBytes);
    expect(box.readUInt32BE(0)).toBe(box.length);
    expect(box.toString('latin1', 4, 8)).toBe('free');
  });

  test.each([
    [100, 0],
    [100, 100],
    [100, 107],
  ])('is empty from %i bytes to %i', (fileBytes, wantedBytes) => {
    expect(paddingOf(fileBytes, wantedBytes).sizeBytes).toBe(0);
    expect(boxOf(fileBytes, wantedBytes).length).toBe(0);
  });
});

describe('the limiter', () => {
  test('keeps its limit and the order, also after a failed job', async () => {
    const limit = createLimiter(2);
    const started: number[] = [];
    let running = 0;
    let mostRunning = 0;
    const job = (number: number) =>
      limit(async () => {
        started.push(number);
        running += 1;
        mostRunning = Math.max(mostRunning, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        if (number === 1) throw new Error('refused');
        return number;
      });

    const ended = await Promise.allSettled([0, 1, 2, 3, 4].map(job));

    expect(ended.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
    expect(started).toEqual([0, 1, 2, 3, 4]);
    expect(mostRunning).toBe(2);
  });
});
