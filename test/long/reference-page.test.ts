import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { inBrowser, openPage, startBrowser, type WatchedPage } from '../contract/support/browser.ts';
import { becomes, sharedService } from '../contract/support/client.ts';
import { openApi } from '../contract/support/declared-answers.ts';

let browser: Browser | undefined;
let page: WatchedPage['page'];
let watched: WatchedPage;
beforeAll(async () => {
  browser = await startBrowser();
  if (!browser) return;
  const { baseUrl } = await sharedService();
  watched = await openPage(browser, baseUrl);
  page = watched.page;
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
    const statuses = ['queued', 'processing', 'succeeded', 'failed', 'expired'];
    const missing = async () => {
      const text = await page.locator('body').innerText();
      return [...summaries, ...Object.keys(webhooks), ...statuses].filter((word) => !text.includes(word));
    };

    expect(summaries).toHaveLength(20);
    await becomes(missing, []);
  },
);

inBrowser('It begins with the quick start, shows each call in three languages, and leads back', async () => {
  const { paths } = openApi as unknown as { paths: Record<string, Record<string, Record<string, unknown>>> };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const first = page.getByRole('heading', { level: 2 }).first();

  await becomes(() => first.innerText(), expect.stringContaining('Quick start'));
  await page.getByText('client.run({', { exact: false }).first().waitFor();
  for (const name of ['curl', 'Python'])
    await becomes(() => page.getByRole('tab', { name, exact: true }).count(), operations.length);
  await becomes(() => page.getByRole('link', { name: '← Console' }).getAttribute('href'), '/console');
});

inBrowser('It finds by its search, which runs beside the page', async () => {
  await page.getByPlaceholder('Search...').fill('balance');

  await page.getByRole('search').getByText('Read the balance').first().waitFor();
});

inBrowser('It tries nothing elsewhere, and its content policy has nothing to refuse', () => {
  const { loaded, problems } = watched;
  expect(new Set(loaded)).toEqual(new Set(['/docs', '/docs/redoc.standalone.js', '/openapi.json']));
  expect(problems).toEqual([]);
});
