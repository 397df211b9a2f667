import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { synthesize } from '../../local/run/synthesize.ts';
import { type LocalRun, startLocalRun } from '../../local/run.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'deployed-sandbox-'));
let run: LocalRun | undefined;
beforeAll(async () => {
  // The stack as `-c providers=sandbox` deploys it, instead of the run's own sandbox.
  run = await startLocalRun(
    { dataDir, port: 0, environment: {} },
    {
      synthesize: (
        folder,
        { modelArkBaseUrl: _, modelStudioBaseUrl: __, modelRoutes: ___, ...context },
        signal,
      ) => synthesize(folder, { ...context, providers: 'sandbox' }, signal),
    },
  );
}, 120_000);
afterAll(async () => {
  await run?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const call = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${run?.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${run?.apiKey}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as {
    requestId: string;
    status: string;
    images?: { url: string }[];
    videos?: { url: string }[];
  };
};

/** Creates a request and reads it until it has ended, 100 s at most. */
const make = async (kind: 'generations' | 'videos', body: object) => {
  const { requestId } = await call('POST', `/v1/${kind}`, { endUserEmail: 'ada@example.com', ...body });
  const until = Date.now() + 100_000;
  for (;;) {
    const record = await call('GET', `/v1/${kind}/${requestId}`);
    if (!['queued', 'processing'].includes(record.status) || Date.now() > until) return record;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
};

test.each(['a lighthouse', '[delay=1]', '[flaky=1]'])(
  'The deployed sandbox makes an image of the prompt %s, which is stored',
  async (prompt) => {
    const record = await make('generations', { model: 'xSD4.5', prompt });

    expect(record.status).toBe('succeeded');
    const file = await fetch(record.images?.[0]?.url ?? '');
    expect((await sharp(Buffer.from(await file.arrayBuffer())).metadata()).width).toBeGreaterThan(0);
  },
  120_000,
);

test('The deployed sandbox makes a video, which is stored', async () => {
  const body = { model: 'xW3.0s', prompt: 'waves', resolution: '480p', durationSec: 2 };
  const record = await make('videos', body);

  expect(record.status).toBe('succeeded');
  expect((await fetch(record.videos?.[0]?.url ?? '')).headers.get('content-type')).toBe('video/mp4');
}, 120_000);
