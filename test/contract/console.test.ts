import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { bodyOf } from '../../console/make/form-rules.ts';
import { CATALOG, type CatalogModel } from '../../core/models/catalog.ts';
import type { Model } from '../../packages/client/src/types.ts';
import { aVideo } from '../unit/builders/videos.ts';
import { type BrokenBound, brokenBounds } from '../unit/console/catalog-bounds.ts';
import { inBrowser, openPage, startBrowser } from './support/browser.ts';
import {
  accepted,
  type Caller,
  eventually,
  newCaller,
  send,
  settled,
  sharedService,
  unique,
} from './support/client.ts';
import { startClipServer } from './support/clip-server.ts';
import { firstPaintBytes, signIn, tabTo } from './support/console.ts';

const PHONE = { width: 390, height: 844 };
const EMAIL = 'keyboard@example.com';

let browser: Browser | undefined;
let caller: Caller;
beforeAll(async () => {
  browser = await startBrowser();
  if (browser) caller = await newCaller(await sharedService());
});
afterAll(() => browser?.close());

const open = (options = {}) => {
  if (!browser) throw new Error('There is no browser.');
  return openPage(browser, caller.service.baseUrl, options);
};

/** Chooses an option of the select that has the focus, by typing its name. */
const choose = (page: Page, option: string) => page.keyboard.type(option);

/**
 * Waits until an expression holds in the page, whose clock runs ten times as fast meanwhile. Not by the page itself: its content policy
 * forbids it to evaluate text.
 */
const seen = (page: Page, expression: string): Promise<unknown> =>
  eventually(async () => {
    await page.clock.fastForward(2_000);
    return page.evaluate(expression);
  }, Boolean);

inBrowser('It is painted with less than 100 KB over the wire', async () => {
  const { page, problems, loaded } = await open();
  const bytes = await firstPaintBytes(page, `${caller.service.baseUrl}/console`);

  expect(loaded.toSorted()).toEqual(['/console', '/console/console.css', '/console/console.js']);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(100_000);
  expect(problems).toEqual([]);
});

inBrowser(
  'On a phone and by keyboard alone an image and a video are made and seen, their stories read, and an end-user blocked',
  async () => {
    const { page, problems } = await open({ viewport: PHONE });
    await page.clock.install();
    await page.goto(caller.service.consoleUrl);
    // The token of the operator is taken out of the address at once.
    expect(page.url()).toBe(`${caller.service.baseUrl}/console`);
    await signIn(page, caller.key);

    await tabTo(page, 'Model');
    await choose(page, 'xZI1.0Pro');
    await tabTo(page, 'Prompt (required)');
    await page.keyboard.type('an image by keyboard');
    await tabTo(page, 'End-user (required)');
    await page.keyboard.type(EMAIL);
    await tabTo(page, 'Size');
    await page.keyboard.type('256x320');
    await page.keyboard.press('Enter');
    await seen(
      page,
      '[...document.images].some((image) => image.naturalWidth === 256 && image.naturalHeight === 320)',
    );

    await tabTo(page, 'Model', 'Shift+Tab');
    await choose(page, 'xW3.0s');
    await tabTo(page, 'Prompt (required)');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('a video by keyboard [delay=0]');
    await tabTo(page, 'Seconds');
    await page.keyboard.type('2');
    await tabTo(page, 'Resolution');
    await choose(page, '480p');
    // The size of the image is still there, and no field of a video.
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
    expect(await way.innerText()).toMatch(/Accepted.*Dispatch.*Wait for provider.*Store outputs.*Settle/s);
    await page.getByRole('heading', { name: 'Ledger entries' }).waitFor();

    await tabTo(page, 'End-users', 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'End-users' }).waitFor();
    await page.getByRole('button', { name: `Block ${EMAIL}` }).waitFor();
    await tabTo(page, `Block ${EMAIL}`);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: `Unblock ${EMAIL}` }).waitFor();
    const { body } = await caller.get<{ items: { blockedAt: string | null }[] }>(
      `/v1/end-users?email=${encodeURIComponent(EMAIL)}`,
    );
    expect(body.items).toEqual([expect.objectContaining({ blockedAt: expect.any(String) })]);
    expect(problems).toEqual([]);
  },
);

/** What is shown at the refused field of each form. The page itself walks through them, by way of another page, so that each begins anew. */
const messagesOfForms = async (page: Page, forms: readonly BrokenBound[]): Promise<string[]> => {
  const given = forms.map(({ values, field }) => ({
    field,
    hash: `#/make?${new URLSearchParams(Object.entries(values))}`,
    isEmpty: (values[field] ?? '') === '',
  }));
  return (await page.evaluate(`(async () => {
    const until = async (find) => {
      for (let looks = 0; looks < 2_000; looks += 1) {
        const found = find();
        if (found) return found;
        await new Promise((resolve) => setTimeout(resolve));
      }
      throw new Error('Nothing is there: ' + location.hash);
    };
    const shown = [];
    for (const { field, hash, isEmpty } of ${JSON.stringify(given)}) {
      location.hash = '#/elsewhere';
      await until(() => document.querySelector('h1').textContent === 'There is no such page');
      location.hash = hash;
      const at = await until(() => document.querySelector(
        '[name="' + field + '"], fieldset:has(#field-' + field.replace('.', '-') + '-1)',
      ));
      // That something is missing is said once it was to be sent.
      if (isEmpty) document.querySelector('[type="submit"]').click();
      const message = document.getElementById(at.getAttribute('aria-describedby').split(' ').at(-1));
      shown.push(await until(() => message.textContent));
    }
    return shown;
  })()`)) as string[];
};

inBrowser(
  'Every bound of every model that can be used is said at its field, in the words in which the service refuses it',
  async () => {
    const { body } = await caller.get<{ data: CatalogModel[] }>('/v1/models');
    const forms = body.data.flatMap(brokenBounds);
    const { page, problems } = await open();
    await page.goto(caller.service.consoleUrl);
    await signIn(page, caller.key);

    const shown = await messagesOfForms(page, forms);

    const refused = await Promise.all(
      forms.map(async ({ model, values, field }) => {
        const entry = body.data.find(({ id }) => id === model) as Model;
        const answer = await caller.post(
          entry.type === 'image' ? '/v1/generations' : '/v1/videos',
          bodyOf(entry, values),
        );
        const { error } = answer.body as { error?: { fields?: Record<string, string> } };
        return [answer.status, error?.fields?.[field]];
      }),
    );
    expect(forms.length).toBeGreaterThan(60);
    expect(shown.map((message) => [400, message])).toEqual(refused);
    expect(problems).toEqual([]);
  },
);

inBrowser(
  'What only the service can judge comes back at its field: the length of a reference video',
  async () => {
    const clips = await startClipServer({ 'long.mp4': await aVideo({ seconds: 15.1 }) });
    try {
      const { page } = await open();
      await page.goto(caller.service.consoleUrl);
      await signIn(page, caller.key);
      await page.getByLabel('Model').selectOption('xW3.0s');
      await page.getByLabel('Prompt').fill('a lighthouse');
      await page.getByLabel('End-user').fill('clips@example.com');
      await page.getByLabel('Reference videos, URL 1').fill(clips.urlOf('long.mp4'));
      await page.getByRole('button', { name: 'Make a video' }).click();

      const wrong = page.getByLabel('Reference videos, URL 1');
      await page.locator('#field-referenceVideos-1-message').getByText('must be at most 15 s long').waitFor();
      expect(await wrong.getAttribute('aria-invalid')).toBe('true');
      await eventually(
        () => wrong.evaluate('document.activeElement.id'),
        (id) => id === 'field-referenceVideos-1',
      );
      // It is gone as soon as the field changes.
      await wrong.fill('');
      expect(await page.locator('#field-referenceVideos-1-message').textContent()).toBe('');
    } finally {
      await clips.close();
    }
  },
);

inBrowser('Ten polls of the gallery download each picture once', async () => {
  const artist = await newCaller(caller.service);
  // A prompt is text, whatever is in it.
  const made = await Promise.all([
    accepted(artist, { size: '256x256', prompt: unique('<img src="/elsewhere">') }),
    accepted(artist, { size: '320x256' }),
  ]);
  await Promise.all(made.map(({ requestId }) => settled(artist, requestId)));
  const unfinished = await accepted(artist, { prompt: unique('[delay=60]') });
  const { page, problems, loaded } = await open();
  const list = (path: string) => loaded.filter((one) => one === path).length;
  await page.clock.install();
  await page.goto(`${caller.service.baseUrl}/console`);
  await signIn(page, artist.key);
  await page.goto(`${caller.service.baseUrl}/console#/requests`);
  await seen(page, '[...document.images].filter((image) => image.naturalWidth > 0).length === 2');

  const before = list('/v1/balance/history');
  // Each poll is due 5 s after the one before has been answered.
  await eventually(
    async () => {
      await page.clock.runFor(2_500);
      return list('/v1/balance/history') - before;
    },
    (polls) => polls >= 10,
  );
  await page.waitForLoadState('networkidle');

  expect(list(`/v1/generations/${unfinished.requestId}`) + list('/v1/generations')).toBeGreaterThan(10);
  const pictures = loaded.filter((path) => path.startsWith('/files/'));
  expect(pictures).toHaveLength(2);
  expect(new Set(pictures).size).toBe(2);
  expect(loaded).not.toContain('/elsewhere');

  // What is created elsewhere is offered, and does not push what is being read.
  await accepted(artist, { prompt: '[fail=content_policy] made elsewhere' });
  await seen(
    page,
    "[...document.querySelectorAll('button')].some((one) => one.textContent === '1 new: show')",
  );
  const offer = page.getByRole('button', { name: '1 new: show' });
  expect(await page.getByText('made elsewhere').count()).toBe(0);
  await offer.click();
  await page.getByText('made elsewhere').waitFor();
  expect(problems).toEqual([]);
});

inBrowser(
  'The operator of the local run creates and revokes keys of its account, and sees every rate',
  async () => {
    const { page, problems } = await open();
    await page.goto(caller.service.consoleUrl);
    await page.getByRole('button', { name: 'Use the key of the local run' }).click();
    await page.getByRole('link', { name: 'Keys and rates' }).click();
    const label = unique();
    await page.getByLabel('What it is for').fill(label);
    await page.getByRole('button', { name: 'Create a key' }).click();
    const key = (await page.locator('.copied code').textContent()) ?? '';
    const keys = page.getByRole('region', { name: 'Keys' });
    const row = keys.getByRole('row').filter({ hasText: label });
    const withKey = { headers: { authorization: `Bearer ${key}` } };
    expect((await send(caller.service, 'GET', '/v1/balance', withKey)).status).toBe(200);

    await row.getByRole('button', { name: /^Revoke/ }).click();
    await row.getByText('revoked').waitFor();
    expect((await send(caller.service, 'GET', '/v1/balance', withKey)).status).toBe(401);
    const rates = page.getByRole('region', { name: 'Rates' });
    for (const { id } of CATALOG)
      await rates.getByRole('rowheader', { name: id, exact: true }).first().waitFor();
    expect(problems).toEqual([]);
  },
);
