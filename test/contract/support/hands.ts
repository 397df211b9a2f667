import type { Locator, Page } from 'playwright-core';

/** A file in the hands of a person. */
export interface HeldFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

/** How a person acts on a page. Each finds what it acts on as people do: by its role and its name. */
export interface Hands {
  /** Follows a link, or presses a button. */
  press(target: Locator): Promise<void>;
  /** Writes in place of what a field holds. */
  write(target: Locator, text: string): Promise<void>;
  /** Chooses one of several: a radio, or an option of a list. */
  choose(target: Locator, option?: string): Promise<void>;
  /** Checks a box, or takes the check away; with Shift the whole range. */
  check(target: Locator, isRange?: boolean): Promise<void>;
  /** Gives a file to a field. */
  give(field: Locator, file: HeldFile): Promise<void>;
}

/** A person with a mouse, who drops files. */
export const withMouse = (page: Page): Hands => ({
  press: (target) => target.click(),
  write: async (target, text) => {
    await target.click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(text);
  },
  choose: async (target, option) => {
    if (option === undefined) await target.check();
    else await target.selectOption(option);
  },
  check: (target, isRange = false) => target.click(isRange ? { modifiers: ['Shift'] } : {}),
  give: async (field, { name, mimeType, buffer }) => {
    const dataTransfer = await page.evaluateHandle(`(() => {
      const bytes = Uint8Array.from(atob(${JSON.stringify(buffer.toString('base64'))}), (one) => one.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], ${JSON.stringify(name)}, { type: ${JSON.stringify(mimeType)} }));
      return data;
    })()`);
    await field.dispatchEvent('drop', { dataTransfer });
  },
});

/** More options than any group of radios has. */
const MAX_STEPS = 200;

/** How long a file chooser or an element may take to be there, and after how long a key is pressed again. */
const [PATIENCE_MILLISECONDS, AGAIN_MILLISECONDS] = [60_000, 5_000];
/** A browser takes keys within a second for one word, so that a word is typed anew after that. */
const WORD_MILLISECONDS = 1_500;

/** Presses Tab until the target has the focus. Throws when it never does. */
const reach = async (page: Page, target: Locator): Promise<void> => {
  const focused = target.and(page.locator(':focus'));
  for (const giveUpAt = Date.now() + PATIENCE_MILLISECONDS; Date.now() < giveUpAt; ) {
    if ((await focused.count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`The keyboard does not reach ${String(target)}.`);
};

/** Chooses an option of the list that has the focus by typing its name, again when the machine was too slow to take it for one word. */
export const typeOption = async (page: Page, option: string): Promise<void> => {
  const chosen = 'document.activeElement.selectedOptions[0]?.textContent.trim().toLowerCase()';
  for (const giveUpAt = Date.now() + PATIENCE_MILLISECONDS; ; ) {
    await page.keyboard.type(option);
    const text = String(await page.evaluate(chosen));
    if (text.startsWith(option.toLowerCase())) return;
    if (Date.now() > giveUpAt) throw new Error(`The keyboard chooses ${text}, not ${option}.`);
    await page.waitForTimeout(WORD_MILLISECONDS);
  }
};

/** A person with a keyboard alone. */
export const withKeyboard = (page: Page): Hands => ({
  press: async (target) => {
    await reach(page, target);
    await page.keyboard.press('Enter');
  },
  write: async (target, text) => {
    await reach(page, target);
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(text);
  },
  choose: async (target, option) => {
    if (option !== undefined) {
      await reach(page, target);
      await typeOption(page, option);
      return;
    }
    const group = page.locator(`input[name="${await target.getAttribute('name')}"]`);
    await reach(page, group.and(page.locator(':checked')));
    for (let steps = 0; steps < MAX_STEPS && !(await target.isChecked()); steps += 1) {
      await page.keyboard.press('ArrowRight');
    }
  },
  check: async (target, isRange = false) => {
    await reach(page, target);
    await page.keyboard.press(isRange ? 'Shift+Space' : 'Space');
  },
  give: async (field, file) => {
    const input = field.locator('input[type=file]');
    const chooser = page.waitForEvent('filechooser', { timeout: PATIENCE_MILLISECONDS });
    const isOpen = chooser.then(() => true);
    // A page that is just drawn anew may miss the key: a person presses again.
    do {
      await reach(page, input);
      await page.keyboard.press('Enter');
    } while (!(await Promise.race([isOpen, page.waitForTimeout(AGAIN_MILLISECONDS)])));
    await (await chooser).setFiles(file);
  },
});
