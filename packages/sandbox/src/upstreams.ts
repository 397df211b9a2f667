import { withAccounts } from './accounts.ts';
import { createFal } from './fal/fal.ts';
import { createFalSigning } from './fal/signing.ts';
import type { Upstream } from './http.ts';
import { createModelArk } from './modelark/modelark.ts';
import { createModelStudio } from './modelstudio/modelstudio.ts';

type Parts = Parameters<typeof createModelArk>[0] &
  Parameters<typeof createModelStudio>[0] &
  Omit<Parameters<typeof createFal>[0], 'signing'>;

/** All upstreams that every sandbox has. */
export const createUpstreams = (parts: Parts): [Upstream, ...Upstream[]] => {
  const signing = createFalSigning(parts.now);
  return [
    withAccounts(parts.apiKey, (apiKey) => createModelArk({ ...parts, apiKey })),
    withAccounts(parts.apiKey, (apiKey) => createModelStudio({ ...parts, apiKey })),
    withAccounts(parts.apiKey, (apiKey) => createFal({ ...parts, apiKey, signing })),
  ];
};

/** The upstream that answers a path, by its prefix. The first one also answers paths that belong to none. */
export const upstreamOf = (path: string, upstreams: readonly [Upstream, ...Upstream[]]): Upstream =>
  upstreams.find(({ prefix }) => path.startsWith(prefix)) ?? upstreams[0];
