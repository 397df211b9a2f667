import { existsSync } from 'node:fs';
import { test } from '@jest/globals';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Where Debian and others put it. */
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
);
if (!executablePath) console.warn('Chromium is not installed: no page is opened in a browser.');

/** Whether pages can be opened here. */
export const HAS_BROWSER = executablePath !== undefined;

/** A test that needs a browser. */
export const inBrowser = HAS_BROWSER ? test : test.skip;

/** A browser; undefined without Chromium. */
export const startBrowser = async (): Promise<Browser | undefined> =>
  executablePath === undefined ? undefined : chromium.launch({ executablePath });

/** A page that is watched. */
export interface WatchedPage {
  page: Page;
  /** Requests to other origins, errors, and violations of its content policy. */
  problems: string[];
  /** Paths that it loaded from its own address. */
  loaded: string[];
}

/** Opens an empty page in a context of its own, and watches it. */
export const openPage = async (
  browser: Browser,
  baseUrl: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> => {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const [problems, loaded]: [string[], string[]] = [[], []];
  page.on('request', (request) => {
    const { protocol, origin, pathname } = new URL(request.url());
    if (protocol === 'http:' && origin === baseUrl) loaded.push(pathname);
    else if (protocol !== 'data:' && protocol !== 'blob:') problems.push(`request to ${request.url()}`);
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective, event.blockedURI))",
  );
  return { page, problems, loaded };
};
