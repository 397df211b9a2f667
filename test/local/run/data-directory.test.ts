import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type LocalRunFile, takeDataDirectory } from '../../../local/run/data-directory.ts';

const root = mkdtempSync(join(tmpdir(), 'data-directory-'));
let path: string;
beforeEach(() => {
  path = join(mkdtempSync(join(root, 'run-')), '.local');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Above every process id of Linux, macOS and Windows. */
const NO_PROCESS = 2 ** 31 - 1;

const aRunFile = { baseUrl: 'http://127.0.0.1:1', pid: process.pid } as LocalRunFile;

describe('the data directory', () => {
  test('is created, and belongs to one run at a time', () => {
    const data = takeDataDirectory(path);

    expect(() => takeDataDirectory(path)).toThrow(`A local run (process ${process.pid}) is using ${path}`);

    data.release();
    takeDataDirectory(path).release();
  });

  test('lets no other user in, new or old', () => {
    takeDataDirectory(path).release();
    expect(statSync(path).mode & 0o777).toBe(0o700);

    chmodSync(path, 0o755);
    takeDataDirectory(path).release();
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  test('keeps the operator’s token over restarts, for its owner only, and has another one after a reset', () => {
    const first = takeDataDirectory(path);
    const token = first.operatorToken();
    first.release();
    const second = takeDataDirectory(path);

    expect(token).toMatch(/^[\w-]{32}$/);
    expect(second.operatorToken()).toBe(token);
    expect(statSync(join(path, 'operator.json')).mode & 0o777).toBe(0o600);
    second.release();
    const third = takeDataDirectory(path, { reset: true });
    expect(third.operatorToken()).not.toBe(token);
    third.release();
  });

  test.each(['run.lock', 'local.json'])('is taken over from a run that died: %s', (name) => {
    mkdirSync(path);
    writeFileSync(join(path, name), JSON.stringify({ pid: NO_PROCESS }));

    takeDataDirectory(path).release();

    expect(existsSync(join(path, name))).toBe(false);
  });

  test('is taken over from a run that died while writing', () => {
    mkdirSync(path);
    writeFileSync(join(path, 'local.json'), '{"pid":');

    takeDataDirectory(path).release();
  });

  test('is refused while local.json names a live process', () => {
    mkdirSync(path);
    writeFileSync(join(path, 'local.json'), JSON.stringify({ pid: process.pid }));

    expect(() => takeDataDirectory(path, { reset: true })).toThrow(/delete .*local\.json/);
    expect(existsSync(join(path, 'local.json'))).toBe(true);
  });

  test('is emptied by a reset, except for foreign files', () => {
    mkdirSync(join(path, 'objects'), { recursive: true });
    for (const name of ['objects/a', 'account.json', 'dynamodb.sqlite', 'secrets.json', 'notes.txt']) {
      writeFileSync(join(path, name), '{}');
    }

    takeDataDirectory(path).release();
    expect(existsSync(join(path, 'account.json'))).toBe(true);
    takeDataDirectory(path, { reset: true }).release();

    for (const name of ['objects', 'account.json', 'dynamodb.sqlite', 'secrets.json']) {
      expect(existsSync(join(path, name))).toBe(false);
    }
    expect(existsSync(join(path, 'notes.txt'))).toBe(true);
  });

  test('holds account.json and local.json, readable by their owner only', () => {
    const data = takeDataDirectory(path);
    expect(data.readAccount()).toBeUndefined();
    const account = { accountId: 'acc_1', apiKey: 'gsk_1', webhookSecret: 'whsec_1' };

    data.writeAccount(account);
    data.writeRunFile(aRunFile);
    data.writeRunFile(aRunFile, 'starting');

    expect(data.readAccount()).toEqual(account);
    for (const name of ['account.json', 'local.json', 'starting/local.json']) {
      expect(statSync(data.file(name)).mode & 0o777).toBe(0o600);
    }
    expect(JSON.parse(readFileSync(data.file('local.json'), 'utf8'))).toEqual(aRunFile);

    data.removeRunFile();
    expect(existsSync(data.file('local.json'))).toBe(false);
  });
});
