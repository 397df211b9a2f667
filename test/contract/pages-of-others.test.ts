import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { anImage } from '../../packages/media/test/images.ts';
import { inBrowser, startBrowser } from './support/browser.ts';
import { accepted, settled, sharedService, unique } from './support/client.ts';
import { useCaller } from './support/use-caller.ts';
import { finishedVideo } from './support/videos.ts';

const caller = useCaller();

/** A page of another origin: another port is one. */
const pages = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!DOCTYPE html><title>Another page</title>');
});
let browser: Browser | undefined;
let page: Page;
let baseUrl: string;
beforeAll(async () => {
  ({ baseUrl } = await sharedService());
  browser = await startBrowser();
  if (!browser) return;
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
});
afterAll(async () => {
  await browser?.close();
  pages.close();
});

/** Runs a script in the page, as the body of an async function of `given`. */
const inPage = <Result>(script: string, given: unknown): Promise<Result> =>
  page.evaluate(`(async (given) => { ${script} })(${JSON.stringify(given)})`);

const imageUrl = async (): Promise<string> => {
  const { requestId } = await accepted(caller, {
    model: 'xZI1.0Pro',
    size: '512x512',
    prompt: unique('a fox'),
  });
  const { images } = await settled(caller, requestId);
  return images?.[0]?.url ?? '';
};

describe('A page of another origin', () => {
  inBrowser('draws an output on a canvas, and reads its pixels', async () => {
    const drawn = await inPage(
      `const image = new Image();
       image.crossOrigin = 'anonymous';
       image.src = given;
       await image.decode();
       const canvas = document.createElement('canvas');
       canvas.width = image.width;
       canvas.height = image.height;
       canvas.getContext('2d').drawImage(image, 0, 0);
       return [canvas.width, canvas.height, canvas.toDataURL().length > 100];`,
      await imageUrl(),
    );

    expect(drawn).toEqual([512, 512, true]);
  });

  inBrowser('reads a part of an output, with its place and the size of the whole', async () => {
    const read = await inPage(
      `const part = await fetch(given, { headers: { range: 'bytes=0-9' } });
       const whole = await fetch(given);
       const [some, all] = [await part.arrayBuffer(), await whole.arrayBuffer()];
       return [part.status, some.byteLength, part.headers.get('content-range') === 'bytes 0-9/' + all.byteLength,
         Number(whole.headers.get('content-length')) === all.byteLength, whole.headers.get('etag') !== null];`,
      await imageUrl(),
    );

    expect(read).toEqual([206, 10, true, true, true]);
  });

  inBrowser('plays a video with crossorigin, and draws its picture', async () => {
    const { videos } = await finishedVideo(caller, { model: 'xW3.0s', resolution: '480p', durationSec: 2 });
    const drawn = await inPage(
      `const video = document.createElement('video');
       video.crossOrigin = 'anonymous';
       video.muted = true;
       const loaded = new Promise((resolve, reject) => {
         video.onloadeddata = resolve;
         video.onerror = () => reject(new Error(video.error.message));
       });
       video.src = given;
       await loaded;
       const canvas = document.createElement('canvas');
       canvas.width = video.videoWidth;
       canvas.height = video.videoHeight;
       canvas.getContext('2d').drawImage(video, 0, 0);
       return canvas.toDataURL().length > 100;`,
      videos?.[0]?.url,
    );

    expect(drawn).toBe(true);
  });

  inBrowser('uploads a file by its form', async () => {
    const bytes = await anImage(300, 300);
    const { body } = await caller.post<{ upload: unknown }>('/v1/uploads', {
      contentType: 'image/png',
      bytes: bytes.length,
    });
    const status = await inPage(
      `const form = new FormData();
       for (const [name, value] of Object.entries(given.upload.fields)) form.append(name, value);
       form.append('file', new Blob([Uint8Array.from(atob(given.bytes), (char) => char.charCodeAt(0))]));
       return (await fetch(given.upload.url, { method: 'POST', body: form })).status;`,
      { upload: body.upload, bytes: bytes.toString('base64') },
    );

    expect(status).toBe(204);
  });

  inBrowser('reads the OpenAPI document, and not the API', async () => {
    const fetched = (url: string) =>
      inPage('return fetch(given).then(({ status }) => status, ({ name }) => name);', url);

    expect(await fetched(`${baseUrl}/openapi.json`)).toBe(200);
    expect(await fetched(`${baseUrl}/v1/models`)).toBe('TypeError');
  });
});
