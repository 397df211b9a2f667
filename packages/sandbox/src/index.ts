/** What the sandbox offers to code: a server to start. */
export { type Capacity, SEEDANCE_CAPACITY, WAN_CAPACITY } from './capacity.ts';
export { type Sandbox, type SandboxOptions, startSandbox } from './server.ts';
