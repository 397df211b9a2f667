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

/** What is read from a context that has these keys as well as the required ones. */
export const read = (given: Record<string, unknown> = {}) => readContext(aNode({ ...required, ...given }));
