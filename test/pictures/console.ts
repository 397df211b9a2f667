import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import sharp from 'sharp';
import { startLocalRun } from '../../local/run.ts';
import { plainCommand } from '../../ops/plain-command.ts';
import { GenerationClient } from '../../packages/client/src/index.ts';
import { fixAnswers } from './fixed-answers.ts';

plainCommand(
  'pictures',
  'Takes the pictures of the console that the README shows, into docs/pictures. Needs Chromium.',
).parse();

const PICTURES = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
/** When everything in the pictures happens. */
const NOON = new Date('2026-11-22T12:00:00.000Z');
const EMAIL = 'ada@example.com';

const dataDir = mkdtempSync(join(tmpdir(), 'pictures-'));
const run = await startLocalRun({ port: 0, dataDir });
const from = new Date();
const client = new GenerationClient({ baseUrl: run.baseUrl, apiKey: run.apiKey });

/** Makes images and a video; resolves to the ids of all requests. */
const makeAll = async (): Promise<string[]> => {
  const requestIds: string[] = [];
  const make = async (request: { requestId: string }) => {
    requestIds.push(request.requestId);
    await client.waitFor(request, { intervalSeconds: 0.5 });
  };
  const wide = { model: 'xSD5Pro', size: '1280x720', endUserEmail: EMAIL };
  await make(await client.createImage({ ...wide, prompt: 'nothing to show [fail=content_policy]' }));
  const waves = { model: 'xW3.0s', prompt: 'waves below the lighthouse', endUserEmail: EMAIL };
  await make(await client.createVideo({ ...waves, durationSec: 3, resolution: '480p' }));
  for (const prompt of ['a lighthouse at dusk', 'gulls over a harbour', 'a winter orchard, first snow']) {
    await make(await client.createImage({ ...wide, prompt }));
  }
  return requestIds;
};

interface Look {
  width: number;
  height: number;
  colorScheme: 'light' | 'dark';
}

const openConsole = async (
  browser: Browser,
  requestIds: readonly string[],
  { width, height, colorScheme }: Look,
): Promise<Page> => {
  const context = await browser.newContext({
    ...{ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' as const },
    ...{ timezoneId: 'UTC', locale: 'en', deviceScaleFactor: 1.5 },
  });
  const page = await context.newPage();
  await fixAnswers(page, { from, to: NOON, requestIds });
  await page.goto(run.consoleUrl);
  await page.getByRole('button', { name: 'Use the key of the local run' }).click();
  await page.locator('.card img').first().waitFor();
  return page;
};

/** Every image and font is there, and nothing has the focus. */
const settle = async (page: Page): Promise<void> => {
  await page.waitForLoadState('networkidle');
  await page.evaluate(`(async () => {
    for (const video of document.querySelectorAll('video')) {
      await new Promise((resolve) => {
        video.addEventListener('canplaythrough', resolve, { once: true });
        video.preload = 'auto';
        video.load();
      });
    }
    await Promise.all([...document.images].map((image) => image.decode()));
    await document.fonts.ready;
    document.activeElement?.blur();
    scrollTo(0, 0);
  })()`);
};

const take = async (page: Page, name: string): Promise<void> => {
  await settle(page);
  // The browser takes its mark of loading off a little later.
  await page.waitForTimeout(1_000);
  const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  const webp = await sharp(png).webp({ quality: 72, effort: 6 }).toBuffer();
  writeFileSync(join(PICTURES, `${name}.webp`), webp);
  console.log(`docs/pictures/${name}.webp  ${webp.length} bytes`);
};

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--font-render-hinting=none'],
});
try {
  const requestIds = await makeAll();
  const light = await openConsole(browser, requestIds, { width: 1200, height: 760, colorScheme: 'light' });
  await light.getByLabel('Prompt').fill('a lighthouse at dawn, oil on canvas');
  await light.getByLabel('End-user').fill(EMAIL);
  await light.getByText('landscape').click();
  await take(light, 'console-make');

  const dark = await openConsole(browser, requestIds, { width: 1200, height: 1140, colorScheme: 'dark' });
  await dark.getByRole('link', { name: 'waves below the lighthouse' }).click();
  await dark.locator('.graph').waitFor();
  await dark.evaluate("document.querySelector('.outputs').remove()");
  await take(dark, 'console-request');

  const phone = await openConsole(browser, requestIds, { width: 390, height: 760, colorScheme: 'light' });
  await phone.getByRole('link', { name: 'Requests', exact: true }).click();
  await phone.locator('.gallery .card').first().waitFor();
  await take(phone, 'console-phone');
} finally {
  await browser.close();
  await run.close();
  rmSync(dataDir, { recursive: true });
}
