import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { HAS_BROWSER, openPage, startBrowser } from '../contract/support/browser.ts';
import {
  accepted,
  type Caller,
  newCaller,
  settled,
  sharedService,
  unique,
} from '../contract/support/client.ts';
import { signIn } from '../contract/support/console.ts';
import { acceptedVideo, settledVideo } from '../contract/support/videos.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];

let browser: Browser | undefined;
/** An account with nothing, and one with requests of every kind. */
let callers: Record<'empty' | 'full', Caller>;
/** Two succeeded requests, a failed one and an unfinished one. */
let ids: string[];
beforeAll(async () => {
  browser = await startBrowser();
  if (!browser) return;
  const service = await sharedService();
  const [empty, full] = await Promise.all([newCaller(service), newCaller(service)]);
  callers = { empty, full };
  const [image, failed, unfinished, video] = await Promise.all([
    accepted(full, { size: '512x512' }),
    accepted(full, { prompt: unique('[fail=content_policy]'), endUserEmail: 'eve@example.com' }),
    accepted(full, { prompt: unique('[delay=100]') }),
    acceptedVideo(full, {
      ...{ model: 'xW3.0s', durationSec: 2, resolution: '480p' },
      ...{ prompt: unique('[delay=0]'), endUserEmail: 'ada@example.com' },
    }),
  ]);
  await Promise.all([settled(full, image.requestId), settled(full, failed.requestId)]);
  await settledVideo(full, video.requestId);
  await full.post('/v1/end-users/eve%40example.com/block', undefined);
  ids = [image.requestId, video.requestId, failed.requestId, unfinished.requestId];
});
afterAll(() => browser?.close());

/** Runs axe in the page; returns what it found, without what it could not decide. */
const findings = async (page: Page, where: string): Promise<string[]> => {
  await page.evaluate(axe);
  const { violations } = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(TAGS)}, resultTypes: ['violations'] })`,
  )) as AxeResults;
  const lines = ({ id, nodes }: AxeResults['violations'][number]): string[] =>
    nodes.map(({ target }) => `${where}: ${id} at ${target.join(' ')}`);
  return violations.flatMap(lines);
};

const VARIANTS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1200, 768, 390].map((width) => ({ colorScheme, width })),
);

/** Each page with what is on it when it is ready. Under `full` also those of requests. */
const pagesOf = (account: 'empty' | 'full'): [hash: string, ready: string][] => [
  ['#/make', 'select#field-model'],
  ['#/make?model=xW3.0s', '[data-takes-file=image]'],
  ['#/requests', account === 'full' ? '.card' : 'p.quiet a'],
  ...(account === 'full' ? ([['#/requests?view=table', 'tr[data-request]']] as [string, string][]) : []),
  ['#/balance', '.chart'],
  ['#/end-users', account === 'full' ? 'tbody tr' : 'p.quiet'],
  ['#/operator', '[aria-label="Routes"] tbody tr'],
  ...(account === 'full'
    ? ids.map((id): [string, string] => [`#/requests/${id}`, '.timeline li'])
    : ([['#/requests/img_01ARZ3NDEKTSV4RRFFQ69G5FAV', '.problem']] as [string, string][])),
];

(HAS_BROWSER ? test : test.skip).each(VARIANTS)(
  'axe finds nothing on any page: $colorScheme, $width px wide',
  async ({ colorScheme, width }) => {
    const found: string[] = [];
    let checked = 0;
    for (const account of ['empty', 'full'] as const) {
      const { page } = await openPage(browser as Browser, callers[account].service.baseUrl, {
        colorScheme,
        viewport: { width, height: 844 },
      });
      const check = async (where: string) => {
        found.push(...(await findings(page, `${where}, ${account}`)));
        const needed = Number(await page.evaluate('document.documentElement.scrollWidth'));
        if (needed > width) found.push(`${where}, ${account}: needs ${needed} px`);
        checked += 1;
      };
      await page.goto(callers[account].service.consoleUrl);
      await page.getByLabel('API key').waitFor();
      await check('sign-in');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.locator('.problem').waitFor();
      await check('sign-in with an error');
      await signIn(page, callers[account].key);
      for (const [hash, ready] of pagesOf(account)) {
        await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
        await page.locator(ready).first().waitFor();
        await check(hash);
      }
      await page.evaluate(
        "location.hash = '#/make?model=xW3.0s&durationSec=99&referenceImages=ftp%3A%2F%2Fx%0Ay&ratio=round'",
      );
      await page.getByRole('button', { name: 'Make a video' }).click();
      await page.locator('[aria-invalid="true"]').first().waitFor();
      await check('#/make with errors');
      if (account === 'full') {
        await page.evaluate("location.hash = '#/requests'");
        await page.locator('.choose').first().check();
        await page.getByText('1 selected').waitFor();
        await check('#/requests with one selected');
        await page
          .getByRole('button', { name: /^Use as input/ })
          .first()
          .focus();
        await page.keyboard.press('Enter');
        await page.getByRole('dialog').getByText('xW3.0s', { exact: true }).waitFor();
        await check('#/requests with the dialog');
        await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
        await page.evaluate("location.hash = '#/end-users'");
        await page.getByRole('button', { name: 'Delete eve@example.com' }).click();
        await page.getByRole('button', { name: 'Delete', exact: true }).click();
        await page.locator('dialog .problem').waitFor();
        await check('#/end-users with the dialog');
        await page.getByRole('button', { name: 'Cancel' }).click();
        await page.evaluate("location.hash = '#/operator'");
        await page
          .getByRole('button', { name: /^Revoke/ })
          .first()
          .click();
        await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).waitFor();
        await check('#/operator with the dialog');
      }
      await page.context().close();
    }

    expect(checked).toBeGreaterThan(18);
    expect(found).toEqual([]);
  },
);
