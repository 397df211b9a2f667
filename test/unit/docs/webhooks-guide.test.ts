import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BALANCE_EVENTS } from '../../../core/accounts/balance-event-answers.ts';
import { newWebhookSecret } from '../../../core/ids.ts';
import { WEBHOOK_EVENTS } from '../../../core/requests/records.ts';
import { signatureHeaders } from '../../../core/webhooks/webhook-rules.ts';
import { RETRY_SCHEDULE } from '../builders/webhook-schedule.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const guide = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');
/** The guide's code blocks in one language. */
const snippets = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code = '']) => code);

const SECRET = newWebhookSecret();
const BODY = JSON.stringify({
  type: 'generation.failed',
  timestamp: '2026-11-20T09:00:00.000Z',
  data: { requestId: 'img_1', status: 'failed', prompt: 'Zürich „in Öl“ 🗼' },
});
const signed = (secrets: readonly string[] = [SECRET], at = new Date()) =>
  signatureHeaders('msg_img_1', BODY, secrets, at);
const minutesAgo = (minutes: number): Date => new Date(Date.now() - minutes * 60_000);
const FORGERIES: [what: string, headers: () => Record<string, string>, body: string][] = [
  ['a changed body', () => signed(), BODY.replace('failed', 'succeeded')],
  ["somebody else's signature", () => signed([newWebhookSecret()]), BODY],
  ['another id', () => ({ ...signed(), 'webhook-id': 'msg_img_2' }), BODY],
  ['a recorded call', () => signed([SECRET], minutesAgo(6)), BODY],
];

describe('the receiver in TypeScript', () => {
  let stop: () => void = () => undefined;
  let url: string;
  const printed: string[] = [];
  beforeAll(async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as { port: number };
    await new Promise((resolve) => free.close(resolve));
    const [code = ''] = snippets('ts');
    const receiver = spawn(process.execPath, ['--input-type=module-typescript', '--eval', code], {
      cwd: root,
      env: { WEBHOOK_SECRET: SECRET, PORT: String(port), NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    stop = () => receiver.kill();
    url = `http://127.0.0.1:${port}/`;
    const lines = createInterface({ input: receiver.stdout });
    await once(lines, 'line');
    lines.on('line', (line) => printed.push(line));
  });
  afterAll(() => stop());

  const post = async (headers: Record<string, string>, body = BODY): Promise<number> =>
    (await fetch(url, { method: 'POST', headers, body })).status;

  test.each(FORGERIES)('refuses %s', async (_what, headersOf, body) => {
    expect(await post(headersOf(), body)).toBe(401);
  });

  test('accepts a webhook sent twice and handles it once', async () => {
    expect(await post(signed())).toBe(204);
    expect(await post(signed())).toBe(204);
    // Another event: the receiver prints it after any line for the first two.
    expect(await post(signatureHeaders('msg_last', BODY, [newWebhookSecret(), SECRET], new Date()))).toBe(
      204,
    );

    const expected = 'generation.failed img_1 failed';
    while (printed.length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(printed).toEqual([expected, expected]);
  });
});

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn("python3 is not installed: the guide's Python is not tested.");

(hasPython ? describe : describe.skip)('verification by hand in Python', () => {
  const code = snippets('python').find((snippet) => snippet.includes('import hmac')) ?? '';
  const verify = (headers: Record<string, string>, body: string): unknown => {
    const call = `import sys\nh, b = json.load(sys.stdin)\ntry: print(json.dumps(verify(h, b.encode())))\nexcept ValueError: print('null')`;
    const env = { ...process.env, WEBHOOK_SECRET: SECRET };
    const input = JSON.stringify([headers, body]);
    return JSON.parse(execFileSync('python3', ['-c', `${code}\n${call}`], { env, input }).toString());
  };

  test('accepts a webhook, also during a rotation', () => {
    expect(verify(signed(), BODY)).toEqual(JSON.parse(BODY));
    expect(verify(signed([newWebhookSecret(), SECRET]), BODY)).toEqual(JSON.parse(BODY));
  });

  test.each(FORGERIES)('refuses %s', (_what, headersOf, body) => {
    expect(verify(headersOf(), body)).toBeNull();
  });
});

describe('the guide', () => {
  test('has an example of each type, whose record has the fields of its status', () => {
    const events = snippets('json').map((json) => JSON.parse(json));

    expect(events.map(({ type }) => type)).toEqual([
      ...['generation.succeeded', 'generation.failed', 'video.succeeded', 'video.failed'],
      ...['balance.low', 'balance.exhausted'],
    ]);
    for (const { timestamp, data } of events.slice(0, 4)) expect(timestamp).toBe(data.finishedAt);
    for (const event of events.slice(4)) {
      expect(WEBHOOK_EVENTS[event.type as keyof typeof BALANCE_EVENTS].safeParse(event).success).toBe(true);
    }
  });

  test('states the deployed schedule', () => {
    const seconds = { s: 1, min: 60, h: 3600 };
    const [sentence = ''] = /the pauses between them are [^.]+\./.exec(guide) ?? [];
    const pauses = [...sentence.matchAll(/(\d+) (s|min|h)\b/g)].map(
      ([, pause, unit]) => Number(pause) * seconds[unit as keyof typeof seconds],
    );

    expect(pauses).toEqual(RETRY_SCHEDULE);
    const hours = pauses.reduce((sum, pause) => sum + pause, 0) / 3600;
    expect(RETRY_SCHEDULE).toHaveLength(10 - 1);
    expect(guide).toContain(`ten attempts over about ${Math.floor(hours)} h.`);
  });
});
