import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
import { sharedService } from '../contract/support/client.ts';
import { openApi } from '../contract/support/declared-answers.ts';

/** Where Debian and others put it. */
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
);
if (!executablePath) console.warn('Chromium is not installed: the reference page is not opened.');
const inBrowser = executablePath ? test : test.skip;

let browser: Browser | undefined;
let page: Page;
let baseUrl: string;
/** What the page tried and should not have, and what went wrong in it. */
const problems: string[] = [];
/** Addresses that it loaded. */
const loaded: string[] = [];
beforeAll(async () => {
  if (!executablePath) return;
  ({ baseUrl } = await sharedService());
  browser = await chromium.launch({ executablePath });
  page = await browser.newPage();
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol === 'http:' && origin === baseUrl) loaded.push(new URL(request.url()).pathname);
    else if (protocol !== 'data:' && protocol !== 'blob:') problems.push(`request to ${request.url()}`);
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective, event.blockedURI))",
  );
  await page.goto(`${baseUrl}/docs`);
  await page.getByRole('heading', { name: 'Create images' }).waitFor();
});
afterAll(() => browser?.close());

inBrowser(
  'The reference page shows every operation, every status of a record and every webhook',
  async () => {
    const { paths, webhooks } = openApi as typeof openApi & { webhooks: Record<string, unknown> };
    const summaries = Object.values(paths).flatMap((operations) =>
      Object.values(operations).map((operation) => (operation as unknown as { summary: string }).summary),
    );
    await page.getByRole('heading', { name: 'video.failed' }).waitFor();
    const text = await page.locator('body').innerText();

    expect(summaries).toHaveLength(14);
    expect(summaries.filter((summary) => !text.includes(summary))).toEqual([]);
    expect(Object.keys(webhooks).filter((type) => !text.includes(type))).toEqual([]);
    const statuses = ['queued', 'processing', 'succeeded', 'failed', 'expired'];
    expect(statuses.filter((status) => !text.includes(status))).toEqual([]);
  },
);

inBrowser('It finds by its search, which runs beside the page', async () => {
  await page.getByPlaceholder('Search...').fill('balance');

  await page.getByRole('search').getByText('Read the balance').first().waitFor();
});

inBrowser('It tries nothing elsewhere, and its content policy has nothing to refuse', () => {
  expect(new Set(loaded)).toEqual(new Set(['/docs', '/docs/redoc.standalone.js', '/openapi.json']));
  expect(problems).toEqual([]);
});
