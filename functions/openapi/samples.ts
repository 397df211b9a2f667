import type { Json } from './json-schema.ts';

/** A call of an operation: its route with the path's parameters filled in, its body, and the call of the client. */
export interface SampleCall {
  method: string;
  path: string;
  body?: unknown;
  /** A method of the client with its arguments. */
  client: string;
}

const indented = (value: unknown): string => JSON.stringify(value, null, 2);

const curl = ({ method, path, body }: SampleCall): string =>
  [
    `curl -s ${['DELETE', 'PUT'].includes(method) || (method === 'POST' && !body) ? `-X ${method} ` : ''}"$GENERATION_BASE_URL${path}" \\`,
    `  -H "Authorization: Bearer $GENERATION_API_KEY"${body ? ' \\' : ''}`,
    ...(body ? [`  -d '${indented(body)}'`] : []),
  ].join('\n');

/** The class of the client. */
const CLIENT = 'GenerationClient';

const typescript = ({ client }: SampleCall): string =>
  [
    `import { ${CLIENT} } from '@generation-service/client';`,
    '',
    `const client = new ${CLIENT}();`,
    `console.log(await client.${client});`,
  ].join('\n');

/** JSON of text, numbers, lists and objects is Python too. */
const python = ({ method, path, body }: SampleCall): string =>
  [
    'import json',
    'import os',
    'import urllib.error',
    'import urllib.request',
    '',
    ...(body ? [`body = ${indented(body)}`] : []),
    'request = urllib.request.Request(',
    `    os.environ["GENERATION_BASE_URL"] + "${path}",`,
    ...(body ? ['    data=json.dumps(body).encode(),'] : []),
    '    headers={"Authorization": "Bearer " + os.environ["GENERATION_API_KEY"]},',
    `    method="${method}",`,
    ')',
    'try:',
    '    with urllib.request.urlopen(request) as answer:',
    '        print(json.load(answer))',
    'except urllib.error.HTTPError as refusal:',
    '    print(refusal.read().decode())',
  ].join('\n');

/** The call in each language, as reference pages show it. All take the address and the key from the environment. */
export const codeSamples = (call: SampleCall): Json[] => [
  { lang: 'Shell', label: 'curl', source: curl(call) },
  { lang: 'TypeScript', label: 'TypeScript', source: typescript(call) },
  { lang: 'Python', label: 'Python', source: python(call) },
];
