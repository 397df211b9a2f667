import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ImportKind, Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A replacement for a module, for the kinds of import named: all of an ES module by default. */
interface StandIn {
  filter: RegExp;
  contents: string;
  kinds?: readonly ImportKind[];
}
const ANY_IMPORT: readonly ImportKind[] = ['import-statement', 'dynamic-import'];
const NAMESPACE = 'lean';

/**
 * Replaces the SDK's chain of credential sources, which reads files, calls hosts and bundles four more
 * clients: Lambda puts a function's credentials in the environment.
 */
const CREDENTIALS: StandIn = {
  filter: /^@aws-sdk\/credential-provider-node$/,
  contents: "export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';",
};
/** The same for clients that also take bearer tokens: the functions send none. */
const TOKENS: StandIn = {
  filter: /^@aws-sdk\/token-providers$/,
  contents:
    "export const nodeProvider = () => async () => { throw new Error('There is no token.'); };\nexport const fromEnvSigningName = nodeProvider;",
};
/** The SDK loads it on demand for operations that stream events. The functions call none. */
const EVENT_STREAMS: StandIn = {
  kinds: ['dynamic-import'],
  filter: /^@smithy\/core\/event-streams$/,
  contents: "throw new Error('No operation that streams events is bundled.');",
};

/**
 * Node's HTTP client, loaded without an ES import. An ES import reads every export of `node:http`, and three exports
 * load `undici`, which no function uses: 50 ms of a whole processor at each cold start.
 */
const HTTP: StandIn = {
  filter: /^(node:)?http$/,
  contents:
    "const http = process.getBuiltinModule('node:http');\nexport const { Agent, request, STATUS_CODES } = http;\nexport default http;",
};

/** The generated schemas of an AWS client, of all its operations. */
const SCHEMAS = /@aws-sdk\/[^/]+\/dist-es\/(.+\/)?schemas\/schemas_0\.js$/;
/** A schema: a variable whose value is an array. Nothing happens when it is evaluated, which esbuild cannot see. */
const SCHEMA = /^((?:export )?var \w+\$? = )(\[[\s\S]*?\]);$/gm;

/**
 * The default settings of a client. Some choose HTTP/2, which no function uses, and load it at each cold
 * start.
 */
const SETTINGS = /@aws-sdk\/client-[^/]+\/dist-es\/runtimeConfig\.js$/;

/** A client reads only its version of its package's description. */
const DESCRIPTIONS = /@aws-sdk\/[^/]+\/package\.json$/;

/**
 * Removes code from a bundle that no function uses, but esbuild would keep. From the AWS SDK: other sources
 * of credentials, schemas of unused operations, and HTTP/2. From Node: modules loaded by an import of its
 * HTTP client.
 */
export const leanPackages: Plugin = {
  name: 'lean-packages',
  setup: (build) => {
    for (const { filter, contents, kinds = ANY_IMPORT } of [CREDENTIALS, TOKENS, EVENT_STREAMS, HTTP]) {
      build.onResolve({ filter }, ({ path, kind }) =>
        kinds.includes(kind) ? { path, namespace: NAMESPACE } : undefined,
      );
      build.onLoad({ filter, namespace: NAMESPACE }, () => ({ contents, resolveDir: root }));
    }
    build.onLoad({ filter: SCHEMAS }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(SCHEMA, '$1/* @__PURE__ */ (() => $2)();'),
    }));
    build.onLoad({ filter: SETTINGS }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace('NodeHttp2Handler as', 'NodeHttpHandler as'),
    }));
    build.onLoad({ filter: DESCRIPTIONS }, ({ path }) => ({
      contents: JSON.stringify({ version: JSON.parse(readFileSync(path, 'utf8')).version }),
      loader: 'json',
    }));
  },
};
