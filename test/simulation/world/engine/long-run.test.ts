import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';

const folder = new URL('../', import.meta.url).href;

/**
 * In a process of its own, as clock and timers of the process are replaced: a function that ticks every 2 s for 57 s, in a world for each
 * of `runs`, its timeout in seconds and the millisecond of its kill.
 */
const SCRIPT = `
const { installGlobals, setTime } = await import('${folder}engine/globals.ts');
installGlobals();
const { setTimeout: pause } = await import('node:timers/promises');
const { World } = await import('${folder}world.ts');
const STARTS_AT = Date.parse('2026-01-01T00:00:00.000Z');
const run = async ([timeoutSeconds, killMs]) => {
  const ticks = [];
  const handler = async () => {
    const endsAt = Date.now() + 57_000;
    for (; Date.now() < endsAt; await pause(2_000)) ticks.push(Date.now());
    pause(1_000).then(() => ticks.push('left behind'));
  };
  const fn = { name: 'events/loop', handler, timeoutSeconds };
  const deployment = { machines: new Map(), functions: new Map([['loop', fn]]) };
  const world = new World({ seed: 1, faults: [], startsAt: STARTS_AT, deployment });
  setTime(world);
  let end = 'under way';
  world.lambda.run(fn, {}).then(() => { end = 'done'; }, ({ name }) => { end = name; });
  await world.scheduler.advance(killMs);
  world.lambda.killAll({ functionName: 'events/loop' });
  await world.scheduler.advance(120_000 - killMs);
  setTime(undefined);
  return { end, ticks: ticks.length, passedMs: ticks.at(-1) - ticks[0] };
};
const runs = [];
for (const settings of JSON.parse(process.argv[1])) runs.push(await run(settings));
console.log(JSON.stringify(runs));`;

describe('a run of a function that pauses between its ticks for most of a minute', () => {
  let [whole, killed, late]: unknown[] = [];

  beforeAll(async () => {
    const runs = JSON.stringify([
      [120, 119_000],
      [120, 20_500],
      [30, 119_000],
    ]);
    const script = ['--input-type=module', '--eval', SCRIPT, runs];
    [whole, killed, late] = JSON.parse((await promisify(execFile)(process.execPath, script)).stdout);
  });

  test('goes on in virtual time until it returns, and what it left behind is frozen', () => {
    expect(whole).toEqual({ end: 'done', ticks: 29, passedMs: 56_000 });
  });

  test('ticks no more once it is killed', () => {
    expect(killed).toMatchObject({ end: expect.not.stringMatching('done'), passedMs: 20_000 });
  });

  test('ticks no more once its time is up', () => {
    expect(late).toMatchObject({ end: 'Sandbox.Timedout', passedMs: 28_000 });
  });
});
