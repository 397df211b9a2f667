import { afterAll, beforeAll, jest } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { openPage, startBrowser } from './browser.ts';
import { type Caller, eventually, newCaller, sharedService } from './client.ts';

/** A test of pages takes some 20 s on a quiet machine, and several times that on a busy one. */
const TEST_MILLISECONDS = 300_000;

/** Bytes that a page takes over the wire, headers included, until nothing is loaded any more. */
export const firstPaintBytes = async (page: Page, url: string): Promise<number> => {
  const session = await page.context().newCDPSession(page);
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await session.send('Network.enable');
  await page.goto(url, { waitUntil: 'networkidle' });
  await page.getByRole('heading').first().waitFor();
  return bytes;
};

/** Gives an API key to the console, and waits for the form. */
export const signIn = async (page: Page, key: string): Promise<void> => {
  await page.getByLabel('API key').waitFor();
  await tabTo(page, 'API key');
  await page.keyboard.type(key);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Make an image or a video' }).waitFor();
  await page.getByLabel('Prompt').waitFor();
};

/** How long the keyboard goes round a page in search of what is not drawn yet. */
const PATIENCE_MILLISECONDS = 30_000;

/** The name of what has the focus, as its label, its `aria-label` or its text say. */
const FOCUSED = `(() => {
  const { activeElement: element } = document;
  const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
  return [name.replaceAll(/\\s+/g, ' ').trim(), element.tagName];
})()`;

/** Presses Tab until what has this name, and this tag if it is given, has the focus. Throws when nothing has. */
export const tabTo = async (page: Page, name: string, key = 'Tab', tag?: string): Promise<void> => {
  const seen = new Set<string>();
  for (const giveUpAt = Date.now() + PATIENCE_MILLISECONDS; Date.now() < giveUpAt; ) {
    await page.keyboard.press(key);
    const [focused = '', focusedTag = ''] = (await page.evaluate(FOCUSED)) as string[];
    if (focused === name && (tag === undefined || tag === focusedTag)) return;
    seen.add(focused);
  }
  throw new Error(`The keyboard does not reach ${name}, only ${[...seen].join(' | ')}.`);
};

/** A console of the shared local run, for the tests of one file. */
export interface ConsoleSession {
  /** The caller whose key is given to the console. Set before the tests run. */
  readonly caller: Caller;
  /** Opens a page of its own, for the service or another address. */
  open(options?: Parameters<typeof openPage>[2], baseUrl?: string): ReturnType<typeof openPage>;
  /** Opens a page and gives the console there the caller's key. */
  openSignedIn(): ReturnType<typeof openPage>;
}

/** Starts a browser and makes a caller before the tests of a file, if there is a browser, and closes it afterwards. */
export const useConsole = (): ConsoleSession => {
  jest.setTimeout(TEST_MILLISECONDS);
  let browser: Browser | undefined;
  let caller: Caller | undefined;
  beforeAll(async () => {
    browser = await startBrowser();
    if (browser) caller = await newCaller(await sharedService());
  });
  afterAll(() => browser?.close());
  return {
    get caller() {
      if (!caller) throw new Error('There is no browser.');
      return caller;
    },
    open(options = {}, baseUrl = undefined) {
      if (!browser) throw new Error('There is no browser.');
      return openPage(browser, baseUrl ?? this.caller.service.baseUrl, options);
    },
    async openSignedIn() {
      const watched = await this.open();
      await watched.page.goto(this.caller.service.consoleUrl);
      await signIn(watched.page, this.caller.key);
      return watched;
    },
  };
};

/**
 * Waits until an expression holds in the page, whose clock runs ten times as fast meanwhile. Not by the page itself: its content policy
 * forbids it to evaluate text.
 */
export const seen = (page: Page, expression: string): Promise<unknown> =>
  eventually(async () => {
    await page.clock.fastForward(2_000);
    return page.evaluate(expression);
  }, Boolean);
