import { expect } from '@jest/globals';
import { inBrowser } from '../contract/support/browser.ts';
import { becomes } from '../contract/support/client.ts';
import { firstPaintBytes, seen, signIn, tabTo, useConsole } from '../contract/support/console.ts';
import { typeOption } from '../contract/support/hands.ts';

const PHONE = { width: 390, height: 844 };
const EMAIL = 'keyboard@example.com';

const session = useConsole();

inBrowser('It is painted with less than 100 KB over the wire', async () => {
  const { page, problems, loaded } = await session.open();
  const bytes = await firstPaintBytes(page, `${session.caller.service.baseUrl}/console`);

  expect(loaded.toSorted()).toEqual(['/console', '/console/console.css', '/console/console.js']);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(100_000);
  expect(problems).toEqual([]);
});

inBrowser(
  'On a phone and by keyboard alone an image and a video are made and seen, their stories read, and an end-user blocked',
  async () => {
    const { page, problems } = await session.open({ viewport: PHONE });
    await page.clock.install();
    await page.goto(session.caller.service.consoleUrl);
    // The token of the operator is taken out of the address at once.
    await becomes(() => page.url(), `${session.caller.service.baseUrl}/console`);
    await signIn(page, session.caller.key);

    await tabTo(page, 'Model');
    await typeOption(page, 'xZI1.0Pro');
    await tabTo(page, 'Prompt (required)');
    await page.keyboard.type('an image by keyboard');
    await tabTo(page, 'End-user (required)');
    await page.keyboard.type(EMAIL);
    await tabTo(page, '1K');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await tabTo(page, 'Custom size');
    await page.keyboard.type('512x640');
    await page.keyboard.press('Enter');
    await seen(
      page,
      '[...document.images].some((image) => image.naturalWidth === 512 && image.naturalHeight === 640)',
    );

    await tabTo(page, 'Model', 'Shift+Tab');
    await typeOption(page, 'xW3.0s');
    await tabTo(page, 'Prompt (required)');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('a video by keyboard [delay=0]');
    await tabTo(page, '1080p');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await tabTo(page, 'Seconds');
    await page.keyboard.type('2');
    await tabTo(page, 'Make a video');
    await page.keyboard.press('Enter');
    await seen(page, "document.querySelector('video') !== null");
    await tabTo(page, 'a video by keyboard [delay=0]', 'Tab', 'VIDEO');
    await page.keyboard.press('Space');
    await seen(
      page,
      "[...document.querySelectorAll('video')].some((video) => video.readyState >= 2 && video.videoWidth === 854)",
    );

    await tabTo(page, 'a video by keyboard [delay=0]', 'Tab', 'A');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Request for a video' }).waitFor();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    const way = page.locator('.way');
    await way.getByText('Settle').waitFor();
    const stations = /Accepted.*Dispatch.*Wait for provider.*Store outputs.*Settle/s;
    await becomes(() => way.innerText(), expect.stringMatching(stations));
    await page.getByRole('heading', { name: 'Transactions' }).waitFor();

    await tabTo(page, 'End-users', 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'End-users' }).waitFor();
    await page.getByRole('button', { name: `Block ${EMAIL} …` }).waitFor();
    await tabTo(page, `Block ${EMAIL} …`);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Block an end-user' }).waitFor();
    await tabTo(page, 'Block');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: `Unblock ${EMAIL}` }).waitFor();
    const endUsers = async () =>
      (await session.caller.get<{ items: object[] }>(`/v1/end-users?email=${encodeURIComponent(EMAIL)}`)).body
        .items;
    await becomes(endUsers, [expect.objectContaining({ blockedAt: expect.any(String) })]);
    expect(problems).toEqual([]);
  },
);

inBrowser('A caller who is no operator sees whose account it is', async () => {
  const { page, problems } = await session.open();
  await page.goto(`${session.caller.service.baseUrl}/console`);
  await signIn(page, session.caller.key);

  await page.locator('header').getByText('Account a test', { exact: true }).waitFor();
  expect(problems).toEqual([]);
});

inBrowser('An address that is not encoded well shows a page, not nothing', async () => {
  const { page, problems } = await session.open();
  await page.goto(`${session.caller.service.baseUrl}/console`);
  await signIn(page, session.caller.key);
  await page.evaluate("location.hash = '#/requests/%'");

  await page.getByText('There is no request %.').waitFor();
  expect(problems.filter((problem) => problem.includes('URIError'))).toEqual([]);
});
