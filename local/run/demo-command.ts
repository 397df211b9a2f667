import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { plainCommand } from '../../ops/plain-command.ts';
import { createProgress, type Progress } from '../../ops/progress.ts';
import { onStopSignals } from '../../ops/stop-signals.ts';
import { demoEnding } from '../demo-ending.ts';
import { inlineImage, inlineProtocolOf } from '../inline-image.ts';
import { type LocalRun, startLocalRun } from '../run.ts';
import { PROJECT_ROOT } from './child.ts';

const POLL_MILLISECONDS = 500;
const DEADLINE_MILLISECONDS = 120_000;

/** The requests to create, in order. */
const REQUESTS = [
  {
    path: '/v1/generations',
    body: {
      model: 'xSD4.5',
      prompt: 'A lighthouse on a cliff at dawn, gulls in the first light, oil on canvas [delay=2]',
      endUserEmail: 'demo@example.com',
    },
  },
  {
    path: '/v1/videos',
    body: {
      model: 'xW3.0sPro',
      prompt: 'Waves roll in below the lighthouse while its light goes round [delay=1]',
      endUserEmail: 'demo@example.com',
      durationSec: 3,
    },
  },
];

const EXTENSIONS: Record<string, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'video/mp4': 'mp4',
};

interface OutputItem {
  id: string;
  url?: string;
  error?: { code: string };
}

interface RequestRecord {
  requestId: string;
  status: string;
  cost?: number;
  images?: (OutputItem & { size: string })[];
  videos?: (OutputItem & { duration: number; resolution: string })[];
  error?: { code: string; message: string };
}

const callApi = async (run: LocalRun, path: string, body?: unknown): Promise<RequestRecord> => {
  const response = await fetch(run.baseUrl + path, {
    headers: { authorization: `Bearer ${run.apiKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
};

/** The pixels of what is shown in a terminal. */
const SHOWN_PIXELS = 480;

/** Shows an image where the terminal can; kitty takes PNG only. */
const show = async (bytes: Uint8Array): Promise<void> => {
  const protocol = inlineProtocolOf(process.env, process.stdout.isTTY === true);
  if (!protocol) return;
  // Imported on demand: few terminals need it.
  const { default: sharp } = await import('sharp');
  const png = await sharp(bytes).resize({ width: SHOWN_PIXELS, withoutEnlargement: true }).png().toBuffer();
  console.log(inlineImage(protocol, png));
};

/** Saves the file behind a signed URL as `out/<id>.<extension>`, and shows it when it is an image; returns its path. */
const save = async (id: string, url: string, facts: string): Promise<string> => {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The file of ${id} answered ${response.status}`);
  const contentType = response.headers.get('content-type') ?? '';
  const folder = join(PROJECT_ROOT, 'out');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${id}.${EXTENSIONS[contentType] ?? 'bin'}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  writeFileSync(file, bytes);
  const path = relative(process.cwd(), file);
  console.log(`${path}  ${facts}`);
  if (contentType.startsWith('image/')) await show(bytes);
  return path;
};

/** The outputs of a record, each with its size or resolution and duration. */
const outputsOf = ({ images = [], videos = [] }: RequestRecord) => [
  ...images.map((image) => ({ ...image, facts: image.size })),
  ...videos.map((video) => ({ ...video, facts: `${video.resolution}, ${video.duration} s` })),
];

/** Creates a request, waits until it succeeds, and saves its files; returns their paths. */
const create = async (
  run: LocalRun,
  { path, body }: (typeof REQUESTS)[number],
  progress: Progress,
  signal: AbortSignal,
): Promise<string[]> => {
  const startedAt = Date.now();
  let record = await callApi(run, path, body);
  progress.update(`${record.requestId}: ${record.status}`);
  while (record.status === 'queued' || record.status === 'processing') {
    if (Date.now() - startedAt > DEADLINE_MILLISECONDS) {
      throw new Error(
        `${record.requestId} is still ${record.status} after ${DEADLINE_MILLISECONDS / 1000} s`,
      );
    }
    await wait(POLL_MILLISECONDS, undefined, { signal });
    record = await callApi(run, `${path}/${record.requestId}`);
    if (record.status === 'processing') progress.update(`${record.requestId}: ${record.status}`);
  }
  if (record.status !== 'succeeded') {
    throw new Error(`${record.requestId} ${record.status}: ${record.error?.message ?? 'no output'}`);
  }
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  progress.succeed(`${record.requestId}: ${record.status} after ${seconds} s, ${record.cost} xTokens`);
  const files: string[] = [];
  for (const { id, facts, url, error } of outputsOf(record)) {
    if (!url) throw new Error(`${id} was not stored: ${error?.code}`);
    files.push(await save(id, url, facts));
  }
  return files;
};

const demo = async (signal: AbortSignal) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'generation-service-demo-'));
  const progress = createProgress(console.log);
  let run: LocalRun | undefined;
  try {
    progress.update('Starting the service');
    run = await startLocalRun({ port: 0, dataDir, signal });
    const files: string[] = [];
    for (const request of REQUESTS) files.push(...(await create(run, request, progress, signal)));
    console.log(`\n${demoEnding(files)}`);
  } finally {
    progress.stop();
    await run?.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
};

const runDemo = async (): Promise<void> => {
  const stopping = new AbortController();
  onStopSignals(
    () => stopping.abort(),
    () => process.exit(1),
  );
  try {
    await demo(stopping.signal);
    process.exit(0);
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    console.error(stopping.signal.aborted ? 'The demo was stopped.' : `The demo failed: ${reason}`);
    process.exit(1);
  }
};

/** `npm run demo`. */
export const demoCommand = async (): Promise<void> => {
  await plainCommand(
    'demo',
    'Makes an image and a video through the whole service on this machine, and saves both under out/.',
  )
    .action(runDemo)
    .parseAsync();
};
