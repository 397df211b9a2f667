import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';

const folder = new URL('../', import.meta.url).href;

/** In a process of its own, as clock and timers of the process are replaced: a function that ticks every 2 s for 57 s. */
const SCRIPT = `
const { installGlobals, setTime } = await import('${folder}engine/globals.ts');
installGlobals();
const { setTimeout: pause } = await import('node:timers/promises');
const { World } = await import('${folder}world.ts');
const STARTS_AT = Date.parse('2026-01-01T00:00:00.000Z');
const ticks = [];
const handler = async () => {
  const endsAt = Date.now() + 57_000;
  for (; Date.now() < endsAt; await pause(2_000)) ticks.push(Date.now());
  pause(1_000).then(() => ticks.push('left behind'));
};
const fn = { name: 'events/loop', handler, timeoutSeconds: Number(process.argv[1]) };
const deployment = { machines: new Map(), functions: new Map([['loop', fn]]) };
const world = new World({ seed: 1, faults: [], startsAt: STARTS_AT, deployment });
setTime(world);
let end = 'under way';
world.lambda.run(fn, {}).then(() => { end = 'done'; }, ({ name }) => { end = name; });
const killMs = Number(process.argv[2]);
await world.scheduler.advance(killMs);
world.lambda.killAll({ functionName: 'events/loop' });
await world.scheduler.advance(120_000 - killMs);
setTime(undefined);
console.log(JSON.stringify({ end, ticks: ticks.length, passedMs: ticks.at(-1) - ticks[0] }));`;

const run = async (timeoutSeconds: number, killMs: number): Promise<unknown> => {
  const script = ['--input-type=module', '--eval', SCRIPT, String(timeoutSeconds), String(killMs)];
  const { stdout } = await promisify(execFile)(process.execPath, script);
  return JSON.parse(stdout);
};

describe('a run of a function that pauses between its ticks for most of a minute', () => {
  test('goes on in virtual time until it returns, and what it left behind is frozen', async () => {
    expect(await run(120, 119_000)).toEqual({ end: 'done', ticks: 29, passedMs: 56_000 });
  });

  test('ticks no more once it is killed', async () => {
    expect(await run(120, 20_500)).toMatchObject({
      end: expect.not.stringMatching('done'),
      passedMs: 20_000,
    });
  });

  test('ticks no more once its time is up', async () => {
    expect(await run(30, 119_000)).toMatchObject({ end: 'Sandbox.Timedout', passedMs: 28_000 });
  });
});
