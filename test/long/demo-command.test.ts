import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { measureVideoFile } from '../contract/support/media.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const saved: string[] = [];
/** It starts its own local run while the shared ones keep the machine busy. */
const DEMO_MILLISECONDS = 150_000;
afterAll(() => Promise.all(saved.map((file) => rm(file, { force: true }))));

test(
  'npm run demo makes a real image and a real video, saves both under out/, and says where and what to do next',
  async () => {
    const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'demo'], { cwd: root });

    const saidOf = (kind: string) =>
      stdout
        .split('\n')
        .filter((line) => line.startsWith(`${kind}_`) && /: (queued|processing|succeeded)/.test(line));
    expect(saidOf('img').length).toBeGreaterThan(1);
    expect(saidOf('vid').length).toBeGreaterThan(1);
    const [, image = '', size] = /^(out\/img_\w+\.jpg) {2}(\d+x\d+)$/m.exec(stdout) ?? [];
    const [, video = '', resolution, seconds] = /^(out\/vid_\w+\.mp4) {2}(\w+), (\d+) s$/m.exec(stdout) ?? [];
    saved.push(resolve(root, image), resolve(root, video));
    expect(stdout).toContain(`Saved: ${image}, ${video}\n`);
    expect(stdout).toMatch(/\n {2}npm start\n(.*\n)*.*\/console\n/);
    expect(stdout).not.toContain('\u001b');
    const { width, height, format } = await sharp(await readFile(resolve(root, image))).metadata();
    expect([`${width}x${height}`, format]).toEqual([size, 'jpeg']);
    const film = await measureVideoFile({ bytes: await readFile(resolve(root, video)) });
    expect(film).toMatchObject({ codec: 'avc', seconds: Number(seconds) });
    expect(film.size.endsWith(`x${Number.parseInt(resolution ?? '', 10)}`)).toBe(true);
  },
  DEMO_MILLISECONDS,
);
