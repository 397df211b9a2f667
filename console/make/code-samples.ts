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
    '  -H "Authorization: Bearer $GENERATION_API_KEY" -H \'Content-Type: application/json\' \\',
    `  -d ${inShell(indented(body))}`,
  ].join('\n');

const typescript = ({ baseUrl, path, body }: Creation): string =>
  [
    "import { GenerationClient } from '@generation-service/client';",
    '',
    `const client = new GenerationClient({ baseUrl: '${baseUrl}' }); // and GENERATION_API_KEY`,
    `const request = await client.${path === '/v1/videos' ? 'createVideo' : 'createImage'}(${indented(body)});`,
    'console.log(await client.waitForSuccess(request));',
  ].join('\n');

const PRINT_IN_PYTHON = [
  'try:',
  '    with urllib.request.urlopen(request) as answer:',
  '        print(json.load(answer))',
  'except urllib.error.HTTPError as refusal:',
  '    print(refusal.read().decode())',
];

/** JSON of text, whole numbers, lists and objects is Python too. */
const python = ({ baseUrl, path, body }: Creation): string =>
  [
    'import json',
    'import os',
    'import urllib.error',
    'import urllib.request',
    '',
    `body = ${indented(body)}`,
    'headers = {"Authorization": "Bearer " + os.environ["GENERATION_API_KEY"], "Content-Type": "application/json"}',
    `request = urllib.request.Request("${baseUrl}${path}", json.dumps(body).encode(), headers)`,
    ...PRINT_IN_PYTHON,
  ].join('\n');

/** The same request in each language. None of them holds the API key, which they take from the environment. */
export const SAMPLES = { curl, TypeScript: typescript, Python: python } as const satisfies Record<
  string,
  (creation: Creation) => string
>;
/** A language that the request is shown in. */
export type Language = keyof typeof SAMPLES;
