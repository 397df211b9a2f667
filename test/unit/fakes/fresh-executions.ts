import { beforeEach } from '@jest/globals';
import { MemoryExecutions } from './memory-executions.ts';

/** Step Functions in memory, without an execution at the beginning of each test. */
export const executions = new MemoryExecutions();
beforeEach(() => executions.reset());
