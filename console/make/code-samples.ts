/** The request of a form, to be sent by other means. */
export interface Creation {
  baseUrl: string;
  path: '/v1/generations' | '/v1/videos';
  body: Record<string, unknown>;
}

const indented = (value: unknown): string => JSON.stringify(value, null, 2);
const inShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const curl = ({ baseUrl, path, body }: Creation): string =>
  [
    `curl -s ${baseUrl}${path} \\`,
    '  -H "Authorization: Bearer $API_KEY" -H \'Content-Type: application/json\' \\',
    `  -d ${inShell(indented(body))}`,
  ].join('\n');

const typescript = ({ baseUrl, path, body }: Creation): string =>
  [
    "import { GenerationClient } from '@generation-service/client';",
    '',
    "const { API_KEY = '' } = process.env;",
    `const client = new GenerationClient({ baseUrl: '${baseUrl}', apiKey: API_KEY });`,
    `const request = await client.${path === '/v1/videos' ? 'createVideo' : 'createImage'}(${indented(body)});`,
    'console.log(await client.waitForSuccess(request));',
  ].join('\n');

/** JSON of text, whole numbers, lists and objects is Python too. */
const python = ({ baseUrl, path, body }: Creation): string =>
  [
    'import json',
    'import os',
    'import urllib.request',
    '',
    `body = ${indented(body)}`,
    'headers = {"Authorization": "Bearer " + os.environ["API_KEY"], "Content-Type": "application/json"}',
    `request = urllib.request.Request("${baseUrl}${path}", json.dumps(body).encode(), headers)`,
    'with urllib.request.urlopen(request) as answer:',
    '    print(json.load(answer))',
  ].join('\n');

/** The same request in each language. None of them holds the API key, which they take from the environment. */
export const SAMPLES = { curl, TypeScript: typescript, Python: python } as const satisfies Record<
  string,
  (creation: Creation) => string
>;
/** A language that the request is shown in. */
export type Language = keyof typeof SAMPLES;
