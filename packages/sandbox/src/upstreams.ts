import { createFal } from './fal/fal.ts';
import type { Upstream } from './http.ts';
import { createModelArk } from './modelark/modelark.ts';
import { createModelStudio } from './modelstudio/modelstudio.ts';

type Parts = Parameters<typeof createModelArk>[0] &
  Parameters<typeof createModelStudio>[0] &
  Parameters<typeof createFal>[0];

/** All upstreams that every sandbox has. */
export const createUpstreams = (parts: Parts): [Upstream, ...Upstream[]] => [
  createModelArk(parts),
  createModelStudio(parts),
  createFal(parts),
];

/** The upstream that answers a path, by its prefix. The first one also answers paths that belong to none. */
export const upstreamOf = (path: string, upstreams: readonly [Upstream, ...Upstream[]]): Upstream =>
  upstreams.find(({ prefix }) => path.startsWith(prefix)) ?? upstreams[0];
