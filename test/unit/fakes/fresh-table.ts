import '../builders/environment.ts';
import { beforeEach } from '@jest/globals';
import { table } from '../../../core/table/table.ts';
import { MemoryTable } from './memory-table.ts';

/** The service's table in memory, empty at the beginning of each test. */
export const memory = new MemoryTable(table);
beforeEach(() => memory.reset());
