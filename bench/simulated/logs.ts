import { invocations } from '../../test/simulation/world/engine/invocation.ts';

let isCapturing = false;
let onLine: ((bytes: number) => void) | undefined;

/** Keeps what functions log off standard output, from now on, and reports the bytes of each line. */
export const captureLogs = (report?: (bytes: number) => void): void => {
  onLine = report ?? onLine;
  if (isCapturing) return;
  isCapturing = true;
  const write = process.stdout.write.bind(process.stdout) as (...values: unknown[]) => boolean;
  process.stdout.write = ((...values: unknown[]) => {
    if (!invocations.getStore()) return write(...values);
    onLine?.(Buffer.byteLength(String(values[0])));
    return true;
  }) as typeof process.stdout.write;
};
