import type { Page } from 'playwright-core';

const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const ID = /\b(img|vid|acc|key|led|whk)_[0-9A-HJKMNP-TV-Z]{26}/g;

/** The times and ids that a page shows in place of the real ones. */
export interface FixedAnswers {
  /** When the run began, and when it is to have begun. */
  from: Date;
  to: Date;
  /** The requests, in the order in which they were made: lists sort them by id. */
  requestIds: readonly string[];
}

/**
 * Makes a page show the same ids and times whenever its pictures are taken: answers of the run are changed on their way in, and ids back
 * on the way out. The signed URLs of files stay as they are.
 */
export const fixAnswers = async (page: Page, { from, to, requestIds }: FixedAnswers): Promise<void> => {
  const shiftMilliseconds = to.getTime() - from.getTime();
  const shown = new Map<string, string>();
  const real = new Map<string, string>();
  const fixedId = (id: string): string => {
    const known = shown.get(id);
    if (known !== undefined) return known;
    const fixed = `${id.slice(0, 4)}01M81C0NS01E0000000000${String(shown.size + 1).padStart(4, '0')}`;
    shown.set(id, fixed);
    real.set(fixed, id);
    return fixed;
  };
  requestIds.forEach(fixedId);
  const fixed = (key: string, value: unknown): unknown => {
    if (typeof value !== 'string' || key === 'url') return value;
    return value
      .replaceAll(INSTANT, (instant) => new Date(Date.parse(instant) + shiftMilliseconds).toISOString())
      .replaceAll(ID, fixedId);
  };
  await page.route(/\/(v1|operator)\//, async (route) => {
    const url = route
      .request()
      .url()
      .replaceAll(ID, (id) => real.get(id) ?? id);
    const response = await route.fetch({ url });
    await route.fulfill({ response, body: JSON.stringify(JSON.parse(await response.text(), fixed)) });
  });
  await page.clock.setFixedTime(new Date(Date.now() + shiftMilliseconds));
};
