import type { Page } from 'playwright-core';

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

/** More stops than any page has. */
const MAX_STOPS = 120;

/** The name of what has the focus, as its label, its `aria-label` or its text say. */
const FOCUSED = `(() => {
  const { activeElement: element } = document;
  const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
  return [name.replaceAll(/\\s+/g, ' ').trim(), element.tagName];
})()`;

/** Presses Tab until what has this name, and this tag if it is given, has the focus. Throws when nothing has. */
export const tabTo = async (page: Page, name: string, key = 'Tab', tag?: string): Promise<void> => {
  const seen: string[] = [];
  for (let stops = 0; stops < MAX_STOPS; stops += 1) {
    await page.keyboard.press(key);
    const [focused = '', focusedTag = ''] = (await page.evaluate(FOCUSED)) as string[];
    if (focused === name && (tag === undefined || tag === focusedTag)) return;
    seen.push(focused);
  }
  throw new Error(`The keyboard does not reach ${name}, only ${[...new Set(seen)].join(' | ')}.`);
};
