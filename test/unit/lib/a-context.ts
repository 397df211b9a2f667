import type { Node } from 'constructs';
import { namesOfProvider, PROVIDER_IDS } from '../../../core/provider-names.ts';
import { readContext } from '../../../lib/context.ts';

/** The routes that the context must have. */
export const ROUTES = { xQI3Pro: { provider: 'modelstudio', upstreamModel: 'qwen-image' } };

/** The keys that have no default. */
export const required = {
  ...Object.fromEntries(
    PROVIDER_IDS.map((id) => [namesOfProvider(id).baseUrlContextKey, `https://${id}.example.com`]),
  ),
  modelRoutes: ROUTES,
};

/** A node of an app with this context. */
export const aNode = (given: Record<string, unknown>): Node =>
  ({ tryGetContext: (key: string) => given[key] ?? null, getAllContext: () => given }) as Node;

/** Reads a context of the required keys and of the given ones, which win over a required key of the same name. */
export const read = (given: Record<string, unknown> = {}) => readContext(aNode({ ...required, ...given }));
