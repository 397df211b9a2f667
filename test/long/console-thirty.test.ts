import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { inBrowser } from '../contract/support/browser.ts';
import {
  accepted,
  becomes,
  type Caller,
  eventually,
  newCaller,
  settled,
} from '../contract/support/client.ts';
import { useConsole } from '../contract/support/console.ts';
import { type Hands, type HeldFile, withKeyboard, withMouse } from '../contract/support/hands.ts';

const session = useConsole();

const picture = async (name: string, side: number): Promise<HeldFile> => ({
  ...{ name, mimeType: 'image/png' },
  buffer: await sharp({ create: { width: side, height: side, channels: 3, background: '#3a7' } })
    .png()
    .toBuffer(),
});

/** Waits until an expression holds in the page. */
const seen = (page: Page, expression: string) => eventually(() => page.evaluate(expression), Boolean);

/** A person at a console, and what the person sees of what was done. */
interface Person extends Hands {
  page: Page;
  caller: Caller;
}
/** What a person does, in this order. */
type Actions = Record<string, (person: Person) => Promise<unknown>>;

const link = ({ page }: Person, name: string) => page.getByRole('link', { name, exact: true });
const button = ({ page }: Person, name: string | RegExp) => page.getByRole('button', { name }).first();
const code = ({ page }: Person) => page.getByRole('region', { name: 'The request in curl' });
const frame = ({ page }: Person) => page.locator('[data-takes-file=image]');
const rows = ({ page }: Person) => page.getByRole('table', { name: 'Requests' }).locator('tr[data-request]');
const isFrame = ({ page }: Person) =>
  eventually(
    () => page.locator('#field-image').inputValue(),
    (url) => url.includes('/uploads/'),
  );

/** The first half: from a key to a video made of the person's own picture. */
const MAKING: Actions = {
  'signs in': async (me) => {
    await me.write(me.page.getByLabel('API key'), me.caller.key);
    await me.press(button(me, 'Sign in'));
    await me.page.getByRole('heading', { name: 'Make an image or a video' }).waitFor();
  },
  'chooses a model': async (me) => {
    await me.choose(me.page.getByLabel('Model'), 'xW2.7S');
    await me.page.getByText('First frame (required)').waitFor();
  },
  'writes a prompt': async (me) => {
    await me.write(me.page.getByLabel('Prompt'), 'make it move [delay=0]');
    await code(me).getByText('make it move').waitFor();
  },
  'names an end-user': (me) => me.write(me.page.getByLabel('End-user'), 'ada@example.com'),
  'sends it too early, and is told at the field': async (me) => {
    await me.press(button(me, 'Make a video'));
    await frame(me).getByText('First frame is required').waitFor();
  },
  'gives a picture that is too small, and is told before it is sent': async (me) => {
    await me.give(frame(me), await picture('small.png', 8));
    await frame(me).getByText('small.png has 8x8 pixels; the model takes sides of 240 to 8,000').waitFor();
  },
  'puts it away': async (me) => {
    await me.press(button(me, 'Put away small.png'));
    await becomes(() => frame(me).getByText('small.png').count(), 0);
  },
  'gives an own picture, and sees it': async (me) => {
    await me.give(frame(me), await picture('mine.png', 640));
    await isFrame(me);
    await frame(me).getByText('mine.png').waitFor();
    await seen(me.page, "document.querySelector('[data-takes-file=image] img')?.naturalWidth === 640");
  },
  'chooses a resolution': async (me) => {
    await me.choose(me.page.getByRole('radio', { name: '720p' }));
    await code(me).getByText('720p').waitFor();
  },
  'says how long, and sees the price': async (me) => {
    await me.write(me.page.getByLabel('Seconds'), '2');
    await me.page.getByText('Costs 10 xTokens.').waitFor();
  },
  'unfolds what is rarely set': async (me) => {
    await me.press(me.page.getByText('More settings'));
    await me.page.getByLabel('Webhook').waitFor();
  },
  'looks at another page': async (me) => {
    await me.press(link(me, 'Requests'));
    await me.page.getByRole('heading', { name: 'Requests' }).waitFor();
  },
  'comes back: nothing is lost': async (me) => {
    await me.press(link(me, 'Make'));
    await isFrame(me);
    await becomes(() => me.page.getByLabel('Prompt').inputValue(), 'make it move [delay=0]');
  },
  'looks at another model, which has the prompt too': async (me) => {
    await me.choose(me.page.getByLabel('Model'), 'xSD4.5');
    await me.page.getByRole('radio', { name: 'landscape' }).waitFor();
    await becomes(() => me.page.getByLabel('Prompt').inputValue(), 'make it move [delay=0]');
  },
  'chooses a shape by its picture': async (me) => {
    await me.choose(me.page.getByRole('radio', { name: 'landscape' }));
    await code(me).getByText('landscape').waitFor();
  },
  'goes back to the model, whose frame is still there': async (me) => {
    await me.choose(me.page.getByLabel('Model'), 'xW2.7S');
    await isFrame(me);
  },
  'makes the video': async (me) => {
    await me.press(button(me, 'Make a video'));
    await me.page
      .locator('.notice')
      .getByText(/Request vid_\w+ is accepted/)
      .waitFor();
  },
  'sees it, decoded': (me) =>
    seen(
      me.page,
      "(document.querySelector('.card video')?.readyState ?? 0) >= 1 && document.querySelector('.card video').videoWidth > 0",
    ),
  'uses it as an input': async (me) => {
    await me.press(button(me, /^Use as input vid_/));
    await me.press(me.page.getByRole('link', { name: 'Reference videos of xW3.0s', exact: true }));
    await eventually(
      () => me.page.getByLabel('Reference videos, URL 1').inputValue(),
      (url) => url.includes('/outputs/vid_') && !url.includes('?'),
    );
  },
};

/** The second half: many requests at once, a request again, and the account. */
const KEEPING: Actions = {
  'sees all requests': async (me) => {
    await me.press(link(me, 'Requests'));
    await me.page.locator('.count').getByText('4 requests').waitFor();
  },
  'filters them by status': async (me) => {
    await me.choose(me.page.getByLabel('Status'), 'failed');
    await me.page.locator('.count').getByText('2 requests').waitFor();
    await becomes(() => new URL(me.page.url()).hash, expect.stringContaining('status=failed'));
  },
  'filters them by end-user as well': async (me) => {
    await me.write(me.page.getByLabel('End-user', { exact: true }), 'nobody');
    await seen(me.page, "document.querySelector('main').textContent.includes('No matches')");
  },
  'clears the filters': async (me) => {
    await me.press(link(me, 'Clear filters'));
    await me.page.locator('.count').getByText('4 requests').waitFor();
  },
  'sees a table': async (me) => {
    await me.choose(me.page.getByRole('radio', { name: 'Table' }));
    await becomes(() => rows(me).count(), 4);
  },
  'sorts it by cost': async (me) => {
    await me.press(button(me, 'xTokens'));
    await becomes(() => rows(me).first().locator('td').last().textContent(), '10');
    await me.press(button(me, 'xTokens'));
    await becomes(() => rows(me).first().locator('td').last().textContent(), '0');
  },
  'selects a range': async (me) => {
    await me.check(rows(me).nth(0).getByRole('checkbox'));
    await me.check(rows(me).nth(1).getByRole('checkbox'), true);
    await me.page.getByText('2 selected').waitFor();
  },
  'deletes it': async (me) => {
    await me.press(button(me, 'Delete …'));
    await me.press(me.page.getByRole('dialog').getByRole('button', { name: 'Delete' }));
    await me.page.locator('.notice').getByText('2 requests deleted').waitFor();
    await becomes(() => rows(me).count(), 2);
  },
  'downloads all the others as one archive': async (me) => {
    await me.check(me.page.getByRole('checkbox', { name: 'Select all that are shown' }));
    const download = me.page.waitForEvent('download');
    await me.press(button(me, 'Download as ZIP'));
    expect((await download).suggestedFilename()).toBe('requests.zip');
  },
  'takes the selection away': async (me) => {
    await me.page.keyboard.press('Escape');
    await becomes(() => me.page.getByText('2 selected').count(), 0);
  },
  'opens a request': async (me) => {
    await me.press(link(me, 'make it move [delay=0]'));
    await me.page.getByRole('heading', { name: 'Request for a video' }).waitFor();
  },
  'reuses its settings, with the own picture': async (me) => {
    await me.press(link(me, 'Reuse these settings'));
    await isFrame(me);
    await becomes(() => me.page.getByLabel('Seconds').inputValue(), '2');
  },
  'makes it again': async (me) => {
    await me.press(button(me, 'Make a video'));
    await seen(me.page, "document.querySelectorAll('.card video').length === 2");
  },
  'sees what it cost': async (me) => {
    await me.press(link(me, 'Balance'));
    await me.page.getByRole('table', { name: 'Transactions' }).getByText('−10').first().waitFor();
  },
  'blocks an end-user': async (me) => {
    await me.press(link(me, 'End-users'));
    await me.press(button(me, 'Block ada@example.com'));
    await me.press(me.page.getByRole('dialog').getByRole('button', { name: 'Block' }));
    await button(me, 'Unblock ada@example.com').waitFor();
  },
  'prefers dark colors': async (me) => {
    await me.choose(me.page.getByLabel('Theme'), 'dark');
    await becomes(() => me.page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'dark');
  },
  'signs out, and leaves nothing': async (me) => {
    await me.press(button(me, 'Sign out'));
    await me.page.getByLabel('API key').waitFor();
    await becomes(() => me.page.evaluate("sessionStorage.getItem('apiKey')"), null);
    const drafts = () => me.page.evaluate("sessionStorage.getItem('drafts') ?? ''");
    await becomes(drafts, expect.not.stringContaining('make it move'));
  },
};

inBrowser.each([
  ['a mouse', withMouse],
  ['a keyboard alone', withKeyboard],
])('A person with %s does thirty things, and sees what each of them does', async (_, hands) => {
  const caller = await newCaller(session.caller.service, 100);
  const { page } = await session.open({ acceptDownloads: true });
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  const person: Person = { ...hands(page), page, caller };
  // The rates are the operator's to tell.
  await page.goto(caller.service.consoleUrl);
  await page.getByLabel('API key').waitFor();

  const done: string[] = [];
  const doAll = async (actions: Actions) => {
    for (const [title, act] of Object.entries(actions)) {
      await act(person).catch((error: unknown) => {
        throw new Error(`A person ${title}: ${String(error)}`, { cause: error });
      });
      done.push(title);
    }
  };
  await doAll(MAKING);
  const others = await Promise.all([
    accepted(caller, { size: '2048x2048', endUserEmail: 'bob@example.com' }),
    accepted(caller, { prompt: 'refused [fail=content_policy]' }),
    accepted(caller, { prompt: 'refused too [fail=content_policy]' }),
  ]);
  await Promise.all(others.map(({ requestId }) => settled(caller, requestId)));
  await doAll(KEEPING);

  expect(done.length).toBeGreaterThanOrEqual(30);
  expect(errors).toEqual([]);
});
