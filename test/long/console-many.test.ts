import { expect } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { inBrowser } from '../contract/support/browser.ts';
import { becomes } from '../contract/support/client.ts';
import { signIn, useConsole } from '../contract/support/console.ts';

const session = useConsole();

const COUNT = 10_000;
/** Elements of the page at any time: some hundred rows, however many there are. */
const MOST_ELEMENTS = 8_000;

/** The request number `n`, counted from the oldest. */
const recordAt = (n: number) => {
  const createdAt = new Date(Date.parse('2026-11-01T00:00:00.000Z') + n * 1_000).toISOString();
  return {
    ...{ requestId: `img_01M8${String(n).padStart(22, '0')}`, status: 'failed', model: 'xSD4.5' },
    ...{ prompt: `request ${n}`, endUserEmail: 'ada@example.com', createdAt, finishedAt: createdAt },
    ...{ referencesCount: 0, error: { code: 'content_policy', message: 'Refused.' } },
  };
};

/** Answers the lists of requests in place of the service. */
const answerLists = async (page: Page): Promise<void> => {
  const answer = (items: readonly object[], asked: URL, hasMore: boolean) => ({
    json: { items, page: Number(asked.searchParams.get('page')), pageSize: 50, hasMore },
  });
  await page.route('**/v1/videos?*', (route: Route) =>
    route.fulfill(answer([], new URL(route.request().url()), false)),
  );
  await page.route('**/v1/generations?*', (route: Route) => {
    const asked = new URL(route.request().url());
    const first = COUNT - (Number(asked.searchParams.get('page')) - 1) * 50;
    const items = Array.from({ length: Math.min(50, first) }, (_, index) => recordAt(first - index));
    return route.fulfill(answer(items, asked, first > 50));
  });
};

const elements = (page: Page): Promise<number> => page.evaluate("document.querySelectorAll('*').length");

/** Scrolls to the end of the page again and again until it says that all are loaded. Resolves to the most elements seen. */
const scrollToEnd = (page: Page): Promise<number> =>
  page.evaluate(`(async () => {
    let most = 0;
    for (const giveUpAt = performance.now() + 240_000; performance.now() < giveUpAt; ) {
      scrollTo(0, document.documentElement.scrollHeight);
      most = Math.max(most, document.querySelectorAll('*').length);
      if (document.querySelector('.count')?.textContent === '10,000 requests') return most;
      await new Promise(requestAnimationFrame);
    }
    throw new Error('Only ' + document.querySelector('.count')?.textContent);
  })()`);

inBrowser(
  'Ten thousand requests scroll, as a gallery and as a table: only those near the window are drawn',
  async () => {
    const { page, problems } = await session.open({ viewport: { width: 1200, height: 800 } });
    await answerLists(page);
    await page.goto(`${session.caller.service.baseUrl}/console`);
    await signIn(page, session.caller.key);
    await page.evaluate("location.hash = '#/requests?view=table'");
    await page.getByText('request 10000', { exact: true }).waitFor();

    let most = await scrollToEnd(page);
    await page.getByText('request 1', { exact: true }).waitFor();
    await becomes(() => page.getByText('request 10000', { exact: true }).count(), 0);

    await page.getByRole('button', { name: 'Time' }).click();
    await page.evaluate('scrollTo(0, 0)');
    await page.getByText('request 1', { exact: true }).waitFor();
    await page.getByRole('radio', { name: 'Gallery' }).check();
    await page.evaluate('scrollTo(0, 0)');
    await page.getByText('request 10000', { exact: true }).waitFor();
    most = Math.max(most, await elements(page));

    expect(most).toBeLessThan(MOST_ELEMENTS);
    expect(problems).toEqual([]);
  },
);
