import { beforeEach } from '@jest/globals';
import { MemoryBucket } from './memory-bucket.ts';

/** The bucket in memory, empty at the beginning of each test. */
export const bucket = new MemoryBucket();
beforeEach(() => bucket.reset());
