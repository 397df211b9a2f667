import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findCommit } from '../../../lib/release.ts';

let folder: string;
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
    cwd: folder,
    encoding: 'utf8',
  }).trim();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'release-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the commit of sources', () => {
  beforeEach(() => {
    git('init', '--quiet');
    writeFileSync(join(folder, 'a'), '1');
    git('add', 'a');
    git('commit', '--quiet', '--message', 'a');
  });

  test('is that of their checkout, a tag or not', () => {
    git('tag', '-a', 'v1.0.0', '--message', 'a');

    expect(findCommit(`${folder}/`)).toBe(git('rev-parse', 'HEAD').slice(0, 12));
  });

  test('says when a file differs from it', () => {
    writeFileSync(join(folder, 'a'), '2');

    expect(findCommit(folder)).toBe(`${git('rev-parse', 'HEAD').slice(0, 12)}-dirty`);
  });

  test('is not that of a folder above', () => {
    mkdirSync(join(folder, 'copy'));

    expect(findCommit(join(folder, 'copy'))).toBeUndefined();
  });
});

test('sources that are no checkout have no commit', () => {
  expect(findCommit(folder)).toBeUndefined();
});
