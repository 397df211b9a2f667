import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { inBrowser } from '../contract/support/browser.ts';
import {
  accepted,
  becomes,
  type Caller,
  eventually,
  newCaller,
  settled,
} from '../contract/support/client.ts';
import { seen, signIn, useConsole } from '../contract/support/console.ts';

const session = useConsole();
const EMAIL = 'ada.with.a.long.name.and.many.more.words@subdomain.of.an.organization.example.com';

const LOOKS = [
  { width: 1200, colorScheme: 'light' },
  { width: 768, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
] as const;
type Look = (typeof LOOKS)[number];

interface Opened {
  page: Page;
  caller: Caller;
  problems: string[];
  /** Creations that the page sent. */
  sent: string[];
}

/** Opens the console for a caller of its own with 50 xTokens. */
const openFor = async ({ width, colorScheme }: Look): Promise<Opened> => {
  const caller = await newCaller(session.caller.service, 50);
  const { page, problems } = await session.open({ viewport: { width, height: 844 }, colorScheme });
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
  });
  await page.clock.install();
  await page.goto(caller.service.consoleUrl);
  await signIn(page, caller.key);
  return { page, caller, problems, sent };
};

const go = (page: Page, hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);

/** Everything on the page is within its width, and every button can be seen whole. */
const fits = (page: Page): Promise<void> => becomes(() => page.evaluate(FITS), [true, []]);
const FITS = `(() => {
    const outside = [...document.querySelectorAll('main button, header a, header button')].filter((one) => {
      const { left, right } = one.getBoundingClientRect();
      return left < 0 || right > innerWidth;
    });
    return [document.documentElement.scrollWidth <= innerWidth, outside.map((one) => one.textContent)];
  })()`;

const fill = async (page: Page, prompt: string) => {
  await page.getByLabel('Prompt').fill(prompt);
  await page.getByLabel('End-user').fill(EMAIL);
};

inBrowser.each(LOOKS)(
  'Making answers what one does: once for two clicks, with notice, card, cost and balance: $width px, $colorScheme',
  async (look) => {
    const { page, caller, problems, sent } = await openFor(look);
    const header = page.locator('header');
    await header.getByText('a test').waitFor();
    await header.getByRole('link', { name: '50 xTokens' }).waitFor();

    await fill(page, 'a lighthouse at dawn');
    await header.getByText('this request: 4 xTokens').waitFor();
    await page.getByText('Billed per image: 4 xTokens up to 4.2 MP').waitFor();
    await page.getByRole('button', { name: 'Make images' }).dblclick();
    const notice = page.locator('.notice');
    await notice.getByText(/Request img_\w+ is accepted/).waitFor();
    await header.getByRole('link', { name: '46 xTokens' }).waitFor();
    const requestId = /img_\w+/.exec((await notice.textContent()) ?? '')?.[0] ?? '';
    await eventually(
      () =>
        page.evaluate(
          `(() => { const { top } = document.querySelector('[data-request="${requestId}"]').getBoundingClientRect(); return top >= 0 && top < innerHeight; })()`,
        ),
      Boolean,
    );
    expect(sent).toEqual(['/v1/generations']);

    // By keyboard, once the button is ready again.
    await seen(page, "document.querySelector('[type=submit]')?.textContent === 'Make images'");
    await page.getByLabel('Prompt').press('Control+Enter');
    await header.getByRole('link', { name: '42 xTokens' }).waitFor();
    expect(sent).toHaveLength(2);

    await seen(page, "document.querySelector('[type=submit]')?.textContent === 'Make images'");
    await page.getByLabel('Images', { exact: true }).fill('15');
    await header.getByText('this request: 60 xTokens').waitFor();
    await page.getByRole('button', { name: 'Make images' }).click();
    await page.getByText('This request costs 60 xTokens; the balance is 42 xTokens.').waitFor();

    // What others make with the same account is shown without a click, nothing being unfinished.
    await accepted(caller, { prompt: 'made by someone else [fail=content_policy]' });
    await seen(page, "document.querySelector('.card .prompt')?.textContent.includes('someone else')");
    await fits(page);
    expect(problems.filter((problem) => !problem.includes('402'))).toEqual([]);
  },
);

inBrowser.each(LOOKS)(
  'Requests are searched, shown with all that was asked, reused and deleted: $width px, $colorScheme',
  async (look) => {
    const { page, caller } = await openFor(look);
    const asked = {
      size: '1280x720',
      n: 2,
      model: 'xSD5Pro',
      prompt: 'gulls over a harbour',
      endUserEmail: EMAIL,
    };
    const gulls = await accepted(caller, asked);
    const failed = await accepted(caller, { prompt: 'nothing to show [fail=content_policy]' });
    await Promise.all([settled(caller, gulls.requestId), settled(caller, failed.requestId)]);
    const cards = page.locator('.gallery .card');
    const search = page.getByLabel('Search prompt, ID, user');
    const found = async (count: string, prompt: string) => {
      await page.locator('.count').getByText(count, { exact: true }).waitFor();
      await eventually(
        () => cards.locator('.prompt').allTextContents(),
        (prompts) => prompts.length === 1 && prompts[0] === prompt,
      );
    };

    await go(page, '#/requests');
    await page.locator('.count').getByText('2 requests').waitFor();
    await search.fill(EMAIL);
    await found('1 request', asked.prompt);
    await search.fill(failed.requestId);
    await found('1 request', 'nothing to show [fail=content_policy]');
    await search.fill('harbour');
    await found('1 request', asked.prompt);
    await search.fill('a submarine');
    await page.getByText('No matches').waitFor();
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await page.getByLabel('Status').selectOption('failed');
    await found('1 request', 'nothing to show [fail=content_policy]');
    await page.getByLabel('Status').selectOption('');
    await page.getByLabel('Model').selectOption('xSD5Pro');
    await found('1 request', asked.prompt);
    await page.getByLabel('To', { exact: true }).fill('2020-01-01');
    await page.getByText('No matches').waitFor();
    await fits(page);

    await go(page, `#/requests/${gulls.requestId}`);
    await page.getByText('1280x720').first().waitFor();
    await eventually(
      () => page.title(),
      (title) => title.includes(gulls.requestId),
    );
    await becomes(() => page.getByRole('link', { name: /^Download/ }).count(), 2);
    await page.getByText('Raw JSON').click();
    const raw = page.getByRole('region', { name: 'Raw JSON' });
    const shown = { requestId: gulls.requestId, input: expect.objectContaining({ n: 2 }) };
    await becomes(async () => JSON.parse((await raw.textContent()) ?? ''), expect.objectContaining(shown));
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await fits(page);

    await page.getByRole('link', { name: 'Reuse these settings' }).click();
    const sample = page.getByRole('region', { name: 'The request in curl' });
    await becomes(
      async () => {
        const code = (await sample.textContent()) ?? '';
        return JSON.parse(code.slice(code.indexOf('{'), code.lastIndexOf('}') + 1));
      },
      { ...asked, aspectRatio: 'auto' },
    );

    await go(page, `#/requests/${gulls.requestId}`);
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect((await caller.get(`/v1/generations/${gulls.requestId}`)).status).toBe(200);
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.locator('.notice').getByText('is deleted, with 2 files').waitFor();
    expect((await caller.get(`/v1/generations/${gulls.requestId}`)).status).toBe(404);
    await page.locator('.count').getByText('1 request').waitFor();
  },
);

inBrowser.each(LOOKS)(
  'What others notice is asked for first, more so of the key in use: $width px, $colorScheme',
  async (look) => {
    const { page, caller } = await openFor(look);
    await settled(caller, (await accepted(caller, { endUserEmail: EMAIL, size: '512x512' })).requestId);
    const dialog = page.getByRole('dialog');
    const blockedAt = async () => {
      const { body } = await caller.get<{ items: { blockedAt: string | null }[] }>('/v1/end-users');
      return body.items.map((user) => user.blockedAt);
    };

    await go(page, '#/end-users');
    await page.getByRole('button', { name: `Block ${EMAIL}` }).click();
    await dialog.getByText('New requests for').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await becomes(blockedAt, [null]);
    await page.getByRole('button', { name: `Block ${EMAIL}` }).click();
    await dialog.getByRole('button', { name: 'Block' }).click();
    await page.getByRole('button', { name: `Unblock ${EMAIL}` }).waitFor();
    await becomes(blockedAt, [expect.any(String)]);
    await fits(page);

    await go(page, '#/balance');
    await page.getByRole('img', { name: /^The balance over 7 days/ }).waitFor();
    await page.getByLabel('Period').selectOption('24 hours');
    await page.getByRole('img', { name: /^The balance over 24 hours/ }).waitFor();
    await page.getByRole('img', { name: /requests? in 30 days, .* in UTC\.$/ }).waitFor();
    await page.getByRole('table', { name: 'Usage' }).waitFor();
    const amounts = page.locator('.chart').first().locator('.amounts span');
    await becomes(() => amounts.allTextContents(), ['0', '10', '20', '30', '40', '50']);
    await fits(page);

    await page.getByLabel('Theme').selectOption(look.colorScheme === 'light' ? 'dark' : 'light');
    const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    const chosen = look.colorScheme === 'light' ? 'rgb(14, 17, 20)' : 'rgb(246, 247, 249)';
    await becomes(ground, chosen);
    await page.reload();
    await page.getByRole('heading', { name: 'Balance' }).waitFor();
    await becomes(ground, chosen);

    // The keys are those of the account in use, not of the first one.
    await go(page, '#/operator');
    await page.getByRole('heading', { name: 'Keys of a test' }).waitFor();
    const keys = page.getByRole('table', { name: 'Keys' });
    await keys.getByText('in use here').waitFor();
    await page.getByRole('table', { name: 'Routes' }).getByText('xSD5Pro').waitFor();
    await fits(page);
    await keys.getByRole('button', { name: /^Revoke/ }).click();
    await dialog.getByText('This console uses this key.').waitFor();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByLabel('API key').waitFor();
    expect((await caller.get('/v1/balance')).status).toBe(401);
  },
);

inBrowser(
  'A webhook that failed is sent again from the page of its request, also of another account',
  async () => {
    const { page, caller } = await openFor(LOOKS[0]);
    const { requestId } = await accepted(caller, {
      ...{ size: '512x512', webhookUrl: 'http://127.0.0.1:9998/hook' },
    });
    await settled(caller, requestId);
    const other = await newCaller(caller.service);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, other.key);

    await go(page, '#/operator');
    await page.getByLabel('Request ID, of any account').fill(requestId);
    await page.getByRole('button', { name: 'Show request' }).click();
    const attempts = page.getByRole('table', { name: 'Webhook attempts' }).getByRole('row');
    await seen(page, 'document.querySelectorAll(\'[aria-label="Webhook attempts"] tbody tr\').length > 0');
    await page.getByText(caller.accountId).waitFor();
    const before = await attempts.count();
    await page.getByRole('button', { name: 'Resend webhook' }).click();
    await page.locator('.notice').getByText('The webhook is being sent again.').waitFor();
    await seen(page, `document.querySelectorAll('[aria-label="Webhook attempts"] tr').length > ${before}`);
  },
);

inBrowser('The address of the service leads to the console, which says its name', async () => {
  const { page } = await session.open();
  await page.goto(`${session.caller.service.baseUrl}/`);

  await becomes(() => page.url(), `${session.caller.service.baseUrl}/console`);
  await page.getByRole('heading', { name: 'Console' }).waitFor();
  await becomes(() => page.title(), 'Console · Generation service');
  const icon = page.locator('link[rel=icon]');
  await becomes(() => icon.getAttribute('href'), expect.stringMatching(/^data:image\/svg/));
});
