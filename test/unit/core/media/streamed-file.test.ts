import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { StreamedFile } from '../../../../core/media/streamed-file.ts';

const bytes = (text: string) => Buffer.from(text);
const textOf = async (read: Promise<Uint8Array>) => Buffer.from(await read).toString();
/** Whether a promise is settled once everything that can go on has. */
const isSettled = async (promise: Promise<unknown>) => {
  let settled = false;
  promise.then(
    () => {
      settled = true;
    },
    () => {
      settled = true;
    },
  );
  await new Promise(setImmediate);
  return settled;
};

describe('a file that arrives in chunks', () => {
  test('waits with the next chunk until its reader needs it', async () => {
    const file = new StreamedFile();
    const pushed = file.push(bytes('abcdef'));
    expect(await isSettled(pushed)).toBe(false);

    const read = file.read(0, 8);
    await pushed;
    expect(await isSettled(read)).toBe(false);
    const next = file.push(bytes('ghij'));

    expect(await textOf(read)).toBe('abcdefgh');
    expect(await isSettled(next)).toBe(false);
    file.release();
    await next;
  });

  test('gives fewer bytes at its end, and then knows its size', async () => {
    const file = new StreamedFile();
    const read = file.read(2, 100);
    const pushed = file.push(bytes('abcdef'));
    expect(file.sizeBytes()).toBeUndefined();
    await pushed;

    file.end();

    expect(await textOf(read)).toBe('cdef');
    expect(file.sizeBytes()).toBe(6);
    expect(await textOf(file.read(6, 10))).toBe('');
    expect(await textOf(file.read(900, 1000))).toBe('');
  });

  test('can be read from one byte before the last read', async () => {
    const file = new StreamedFile();
    const read = file.read(3, 5);
    void file.push(bytes('abcdefgh'));

    expect(await textOf(read)).toBe('de');
    expect(await textOf(file.read(2, 4))).toBe('cd');
  });

  test('fails the read that waits, and every later one', async () => {
    const file = new StreamedFile();
    const read = file.read(0, 5);
    const error = new Error('It broke off.');

    file.fail(error);
    file.fail(new Error('It ended.'));

    await expect(read).rejects.toBe(error);
    await expect(file.read(0, 1)).rejects.toBe(error);
  });

  test('counts what comes after its reader is gone, and keeps nothing', async () => {
    const file = new StreamedFile();
    file.release();

    await file.push(bytes('abc'));
    await file.push(bytes('def'));
    file.end();

    expect(file.sizeBytes()).toBe(6);
  });

  test('gives the same bytes as the file itself, whatever the chunks and the reads', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 12 }),
        fc.array(fc.tuple(fc.nat(15), fc.nat(30)), { maxLength: 12 }),
        async (chunks, steps) => {
          const whole = Buffer.concat(chunks);
          const file = new StreamedFile();
          const sending = (async () => {
            for (const chunk of chunks) await file.push(chunk);
            file.end();
          })();

          let start = 0;
          for (const [ahead, length] of steps) {
            start += ahead;
            const part = Buffer.from(await file.read(start, start + length));
            expect(part.equals(whole.subarray(start, start + length))).toBe(true);
          }
          file.release();
          await sending;
          expect(file.sizeBytes()).toBe(whole.byteLength);
        },
      ),
    );
  });
});
