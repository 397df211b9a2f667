import { startSandbox } from '@generation-service/sandbox';
import { afterAll, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { accepted, becomes, eventually, settled, unique } from '../contract/support/client.ts';
import { fetchFile, measure } from '../contract/support/files.ts';
import { balance, entriesOf, refundedInFull } from '../contract/support/ledger.ts';
import { loggedLines } from '../contract/support/permissions.ts';
import { uniqueEmail } from '../contract/support/resources.ts';
import { openTlsFileServer } from '../contract/support/tls-file-server.ts';
import { acceptedVideo, findUpstreamTask, settledVideo } from '../contract/support/videos.ts';
import { useOwnRun } from './own-run.ts';

const DEADLINE_SECONDS = 12;
const MAX_RUNNING = 3;
/** What an image of `xSD4.5` or `xQI3Pro` costs, and the smallest video of `xW3.0s`. */
const [IMAGE, VIDEO] = [4, 6];
const STUDIO_IMAGES = '/api/v1/services/aigc/multimodal-generation/generation';

const picture = await sharp({ create: { width: 64, height: 48, channels: 3, background: 'red' } })
  .png()
  .toBuffer();
const tlsFiles = await openTlsFileServer(picture);

/** The sandbox that is behind the proxy, when it is not the one of the run. */
let otherSandboxUrl: string | undefined;
const { service, caller, proxy } = useOwnRun({
  proxied: ['modelArkBaseUrl', 'modelStudioBaseUrl'],
  sandboxUrl: () => otherSandboxUrl,
  xTokens: 10_000,
  context: {
    sandboxMaxRunning: MAX_RUNNING,
    ...{ imageDeadlineSeconds: DEADLINE_SECONDS, videoDeadlineSeconds: 2 * DEADLINE_SECONDS },
    ...{ pollIntervalSeconds: 1, reconcileIntervalSeconds: 1 },
  },
  ...(tlsFiles && { environment: { NODE_EXTRA_CA_CERTS: tlsFiles.certificates } }),
});
afterAll(() => tlsFiles?.close());

const images = async (prompt: string, body: Record<string, unknown> = {}) =>
  settled(caller, (await accepted(caller, { model: 'xSD4.5', prompt, ...body })).requestId);
const video = (prompt: string) =>
  acceptedVideo(caller, {
    ...{ model: 'xW3.0s', resolution: '480p', durationSec: 2, prompt },
    endUserEmail: uniqueEmail(),
  });
/** The log lines about unreadable answers to an operation, after the names of their files. */
const unreadable = async (operation: string): Promise<string[]> =>
  (await loggedLines(service.dataDir, 'provider answer unreadable')).filter((line) =>
    line.includes(`"operation":"${operation}"`),
  );

test('Images whose creations are answered with what cannot be read fail with provider_error, refunded, and are logged once', async () => {
  const record = await images(unique('[garbled=creation]'), { n: 3 });

  expect(record).toMatchObject({ status: 'failed', error: { code: 'provider_error' } });
  expect(await entriesOf(caller, record.requestId)).toEqual(refundedInFull(3 * IMAGE));
  const shape = '"shape":"{result:{model:string,created:number,data:[{url:string,size:string}],';
  await becomes(() => unreadable('creation'), [expect.stringContaining(shape)]);
  await becomes(() => loggedLines(service.dataDir, '/outputs/'), []);
});

test('A task whose queries are answered with what cannot be read fails with provider_error, refunded, and is logged once by who queries', async () => {
  const created = await video(unique('[delay=0][garbled=queries]'));
  const record = await settledVideo(caller, created.requestId);

  expect(record).toMatchObject({ status: 'failed', error: { code: 'provider_error' } });
  expect(await entriesOf(caller, record.requestId)).toEqual(refundedInFull(VIDEO));
  const lines = await eventually(
    () => unreadable('query'),
    ({ length }) => length > 0,
  );
  const functions = lines.map((line) => line.slice(0, line.indexOf(': ')));
  expect(functions).toEqual([...new Set(functions)]);
  expect((await findUpstreamTask(service, created))?.queries).toBeGreaterThan(lines.length);
  for (const line of lines) {
    expect(line).toContain('"shape":"{result:{request_id:string,output:{task_id:string,task_status:string,');
  }
  await becomes(() => loggedLines(service.dataDir, '/outputs/'), []);
});

test('Outputs whose URLs have expired when they are to be stored fail the request with internal_error, refunded', async () => {
  const expiring = await startSandbox({ outputSeconds: 0, plainImages: true });
  otherSandboxUrl = expiring.url;
  try {
    const record = await images(unique(), { n: 2 });

    expect(record).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
    expect(await entriesOf(caller, record.requestId)).toEqual(refundedInFull(2 * IMAGE));
  } finally {
    otherSandboxUrl = undefined;
    await expiring.close();
  }
});

test('An image of a task that the provider refused is left out and refunded, and the others are delivered', async () => {
  const prompt = unique('[partial=0]');
  const record = await images(prompt, { model: 'xQI3Pro', size: '512x512', n: 3 });

  expect(record).toMatchObject({ status: 'succeeded', cost: 2 * IMAGE });
  expect(record.images?.map(({ error }) => error)).toEqual([undefined, undefined]);
  expect(await entriesOf(caller, record.requestId)).toEqual([
    ['refund', IMAGE],
    ['generation', 3 * IMAGE],
  ]);
});

test('Calls that all stay busy until the deadline fail with provider_error then, whatever their Retry-After, refunded, and pause nobody', async () => {
  const endUserEmail = uniqueEmail();
  const record = await images(unique('[busy=all][retry-after=3600]'), { n: 2, endUserEmail });

  expect(record).toMatchObject({ status: 'failed', error: { code: 'provider_error' } });
  expect(await entriesOf(caller, record.requestId)).toEqual(refundedInFull(2 * IMAGE));
  expect(await images(unique(), { endUserEmail })).toMatchObject({ status: 'succeeded' });
});

const testTls = tlsFiles ? test : test.skip;
testTls('A result of plain http: is fetched by https:, at the port of that', async () => {
  const prompt = unique();
  const path = '/picture.png?Signature=a%2Fb';
  const choice = { message: { content: [{ image: `${tlsFiles?.plainUrl}${path}` }] } };
  proxy.stop = (request, response) => {
    if (request.path !== STUDIO_IMAGES || !JSON.stringify(request.body).includes(prompt)) return false;
    response.end(JSON.stringify({ request_id: 'r', output: { choices: [choice] } }));
    return true;
  };
  const before = await balance(caller);
  const record = await images(prompt, { model: 'xZI1.0Pro' });

  expect(record.status).toBe('succeeded');
  expect(await measure(await fetchFile(record.images?.[0]?.url))).toEqual({ format: 'png', size: '64x48' });
  expect(tlsFiles?.fetched).toEqual([{ path, agent: expect.stringMatching(/^generation-service\//) }]);
  expect(await balance(caller)).toBe(before - (record.cost ?? 0));
});
