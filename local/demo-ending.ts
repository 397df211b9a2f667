/** The default address where `npm start` serves the API, the console and the reference. */
export const DEFAULT_BASE_URL = 'http://127.0.0.1:3000';

/** The last output of the demo: the files it made, and the next steps. */
export const demoEnding = (files: readonly string[]): string =>
  [
    `Saved: ${files.join(', ')}`,
    '',
    'The service of this demo has ended. Keep one running, with a console in the browser:',
    '',
    '  npm start',
    '',
    `  console    ${DEFAULT_BASE_URL}/console`,
    `  reference  ${DEFAULT_BASE_URL}/docs`,
    '',
    'It prints an API key, the link to its console and a first request. To see what happens to requests:',
    '',
    '  npm run ops -- requests watch',
  ].join('\n');
