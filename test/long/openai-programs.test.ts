import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { type Caller, callerWith, eventually } from '../contract/support/client.ts';
import { history } from '../contract/support/ledger.ts';
import { ops } from '../contract/support/local-service.ts';
import { installPrograms } from './openai-programs/installed.ts';
import { useOwnRun } from './own-run.ts';

const isInstalled = installPrograms();
if (!isInstalled) console.warn("npm or its registry is not there: no program of OpenAI's clients is run.");

/** How long a call waits, and the image that takes three times that. */
const WAIT_SECONDS = 3;
const SLOW = `[delay=${3 * WAIT_SECONDS}]`;

const { service } = useOwnRun({ context: { openaiWaitSeconds: WAIT_SECONDS } });
let caller: Caller;

/** What a program had: images, in so many runs, or an error. */
interface Had {
  name: string;
  images?: number;
  runs?: number;
  error?: string;
}

const root = fileURLToPath(new URL('openai-programs/run.ts', import.meta.url));
const execute = promisify(execFile);
/** Runs programs at the same time, each with a prompt that ends in its name: at most ten, as many calls as an account may wait with. */
const runAll = async (model: string, prompt: string, names: readonly string[], more = {}): Promise<Had[]> => {
  const env = {
    ...{ ...process.env, ...more, NODE_NO_WARNINGS: '1' },
    ...{ BASE_URL: `${service.baseUrl}/openai/v1`, API_KEY: service.apiKey },
  };
  const { stdout } = await execute(process.execPath, [root, model, prompt, ...names], { env });
  const had = stdout
    .trim()
    .split('\n')
    .map((line): Had => JSON.parse(line));
  return names.flatMap((name) => had.find((one) => one.name === name) ?? []);
};

/** How often the caller was debited for requests of a prompt, by the list that has them. */
const debitsFor = async (prompt: string, list = 'generations'): Promise<number> => {
  const { body } = await caller.get<{ items: { requestId: string; prompt: string }[] }>(
    `/v1/${list}?pageSize=50`,
  );
  const ids = body.items.filter((item) => item.prompt === prompt).map(({ requestId }) => requestId);
  return (await history(caller)).filter(
    ({ reason, reference }) => reason === 'generation' && ids.includes(String(reference)),
  ).length;
};

(isInstalled ? describe : describe.skip)('Programs as people install them', () => {
  beforeAll(async () => {
    caller = callerWith(service, service.accountId, service.apiKey);
    await ops(service, 'models', 'alias', 'set', 'gpt-image-1', '--model', 'xQI3Pro');
  });

  test.each<[string, string[]]>([
    ['openai', ['openai400', 'openai4', 'openai5', 'openai6', 'openai7']],
    ['the AI SDK by @ai-sdk/openai', [4, 5, 6, 7].map((version) => `ai${version} openai`)],
    [
      'the AI SDK by @ai-sdk/openai-compatible',
      [4, 5, 6, 7].map((version) => `ai${version} openai-compatible`),
    ],
  ])('%s gets an image that takes three times the wait, for one debit', async (_, names) => {
    const prompt = `${SLOW} slow`;
    const had = await runAll('xZI1.0Pro', prompt, names);

    expect(had).toEqual(names.map((name) => ({ name, images: 1, runs: expect.any(Number) })));
    for (const name of names) expect([name, await debitsFor(`${prompt} ${name}`)]).toEqual([name, 1]);
  });

  test('openai makes, reads, lists and downloads videos, each for one debit', async () => {
    const names = ['openai6, video', 'openai7, video'];
    const had = await runAll('xW3.0s', 'waves', names);

    expect(had).toEqual(names.map((name) => ({ name, images: 1, runs: 1 })));
    for (const name of names) expect([name, await debitsFor(`waves ${name}`, 'videos')]).toEqual([name, 1]);
  });

  test.each<[string, string[]]>([
    [
      'chat programs',
      ['LangChain', 'TanStack AI', 'LibreChat', 'Open WebUI', 'promptfoo', 'of the DALL-E age'],
    ],
    [
      'programs that send a quality, and edits',
      [
        ...['TanStack AI, quality', 'LibreChat, quality', 'n8n', 'n8n, older node'],
        ...['n8n, edit', 'ai6, edit', 'ai7, edit'],
      ],
    ],
  ])('%s get images with the names and hints that they send', async (_, names) => {
    const openai = new OpenAI({ apiKey: service.apiKey, baseURL: `${service.baseUrl}/openai/v1` });
    const { data = [] } = await openai.images.generate({ model: 'xQI3Pro', prompt: 'a picture', n: 1 });
    await eventually(
      () => openai.models.list(),
      ({ data: models }) => models.some(({ id }) => id === 'gpt-image-1'),
    );
    const had = await runAll('gpt-image-1', 'hinted', names, { PICTURE_URL: data[0]?.url });

    expect(had).toEqual(names.map((name) => ({ name, images: 1, runs: expect.any(Number) })));
  });
});
