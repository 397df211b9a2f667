/** What the sandbox offers to code: a server to start, and the padding that makes an MP4 any size. */
export { type Capacity, SEEDANCE_CAPACITY, WAN_CAPACITY } from './capacity.ts';
export { paddingOf } from './media/mp4-padding.ts';
export { type Sandbox, type SandboxOptions, startSandbox } from './server.ts';
