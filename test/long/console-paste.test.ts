import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { inBrowser } from '../contract/support/browser.ts';
import { becomes, eventually, newCaller } from '../contract/support/client.ts';
import { signIn, useConsole } from '../contract/support/console.ts';

const session = useConsole();

/** Pastes a file into what has the focus, as a browser does after Ctrl+V of a copied picture. */
const paste = (page: Page, mimeType: string, bytes: Buffer): Promise<unknown> =>
  page.evaluate(`(() => {
    const bytes = Uint8Array.from(atob(${JSON.stringify(bytes.toString('base64'))}), (one) => one.charCodeAt(0));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([bytes], 'image.png', { type: ${JSON.stringify(mimeType)} }));
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    (document.activeElement ?? document.body).dispatchEvent(event);
  })()`);

inBrowser('A pasted picture becomes the first frame, wherever the cursor is', async () => {
  const caller = await newCaller(session.caller.service);
  const { page } = await session.open({ viewport: { width: 1200, height: 844 } });
  await page.goto(caller.service.consoleUrl);
  await signIn(page, caller.key);
  await page.getByLabel('Model').selectOption('xW2.7S');
  await page.getByText('First frame (required)').waitFor();
  await page.getByLabel('Prompt').fill('make it move');
  const side = { width: 512, height: 512, channels: 3, background: '#3a7' } as const;

  await paste(page, 'image/png', await sharp({ create: side }).png().toBuffer());

  const frame = page.locator('#field-image');
  await eventually(
    () => frame.inputValue(),
    (url) => url.includes('/uploads/'),
  );
  await becomes(() => page.getByLabel('Prompt').inputValue(), 'make it move');
});
