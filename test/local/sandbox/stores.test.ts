import { describe, expect, test } from '@jest/globals';
import { createCallCounter } from '../../../sandbox/call-counter.ts';
import { createLimiter } from '../../../sandbox/limiter.ts';
import { createOutputs } from '../../../sandbox/outputs.ts';
import { createTasks } from '../../../sandbox/tasks.ts';

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

  test('end 24 hours after they were made', () => {
    const clock = aClock();
    const outputs = createOutputs({ baseUrl: 'http://here/outputs', now: clock.now });
    clock.advance(HOUR_MILLISECONDS);
    const name = fileNameOf(outputs.add(anOutput().source, { madeAt: 0 }));

    clock.advance(23 * HOUR_MILLISECONDS - 1);
    expect(outputs.find(name)?.contentType).toBe('text/plain');

    clock.advance(1);
    expect(outputs.find(name)).toBeUndefined();
  });

  test('are made when first read, once for readers that come together or later', async () => {
    const { source, timesMade } = anOutput();
    const outputs = createOutputs({ baseUrl: 'http://here/outputs', now: Date.now });
    const name = fileNameOf(outputs.add(source));
    expect(timesMade()).toBe(0);

    const together = await Promise.all([outputs.find(name)?.read(), outputs.find(name)?.read()]);
    const later = await outputs.find(name)?.read();

    expect([...together, later].map(String)).toEqual(['content', 'content', 'content']);
    expect(timesMade()).toBe(1);
  });

  test('have a URL but no file when broken', () => {
    const outputs = createOutputs({ baseUrl: 'http://here/outputs', now: Date.now });

    const url = outputs.add(anOutput().source, { isBroken: true });

    expect(url).toMatch(/^http:\/\/here\/outputs\/[0-9a-f-]{36}\.txt$/);
    expect(outputs.find(fileNameOf(url))).toBeUndefined();
  });
});

describe('the tasks', () => {
  const tasksOf = (clock: ReturnType<typeof aClock>) =>
    createTasks<string>({ now: clock.now, retentionSeconds: 60 });

  test('wait, run and end by the clock', () => {
    const clock = aClock();
    const tasks = tasksOf(clock);
    const endings: number[] = [];
    const finish = (endedAt: number) => {
      endings.push(endedAt);
      return { result: 'made' };
    };
    const { id } = tasks.submit({ seconds: 10, finish });

    expect(tasks.find(id)?.phase).toBe('waiting');
    clock.advance(1_000);
    expect(tasks.find(id)).toMatchObject({ phase: 'running', startedAt: 1_000 });
    clock.advance(20_000);
    const ended = { phase: 'succeeded', startedAt: 1_000, endedAt: 10_000, result: 'made' };
    expect(tasks.find(id)).toMatchObject(ended);
    expect(tasks.find(id)).toMatchObject(ended);
    expect(endings).toEqual([10_000]);
  });

  test('run for ever when they have no end', () => {
    const clock = aClock();
    const tasks = tasksOf(clock);
    const { id } = tasks.submit({ seconds: Infinity, finish: () => ({ result: 'never' }) });

    clock.advance(59_999);

    expect(tasks.find(id)?.phase).toBe('running');
  });

  test('are cancelled only while they wait', () => {
    const clock = aClock();
    const tasks = tasksOf(clock);
    const submit = () => tasks.submit({ seconds: 10, finish: () => ({ result: 'made' }) }).id;
    const [early, late] = [submit(), submit()];

    expect(tasks.cancel(early)).toBe(true);
    expect(tasks.cancel(early)).toBe(false);
    clock.advance(1_000);
    expect(tasks.cancel(late)).toBe(false);
    expect(tasks.cancel('unknown')).toBe(false);
    clock.advance(20_000);
    expect(tasks.find(early)?.phase).toBe('cancelled');
    expect(tasks.find(late)?.phase).toBe('succeeded');
  });

  test('are forgotten after the time the upstream keeps them', () => {
    const clock = aClock();
    const tasks = tasksOf(clock);
    const { id } = tasks.submit({ seconds: 1, finish: () => ({ result: 'made' }) });

    clock.advance(60_000);

    expect(tasks.find(id)).toBeUndefined();
  });
});

describe('the call counter', () => {
  test('counts each key by itself and forgets the longest unused first', () => {
    const counter = createCallCounter(2);

    expect(['a', 'a', 'b', 'a', 'c', 'a', 'b'].map((key) => counter.next(key))).toEqual([
      0, 1, 0, 2, 0, 3, 0,
    ]);
  });
});

describe('the limiter', () => {
  test('keeps to its limit, in order, also after a job that fails', async () => {
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
