import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { bodyOf, fieldsOf, messageText } from '../../console/make/form-rules.ts';
import { CATALOG, type CatalogModel } from '../../core/models/catalog.ts';
import type { Model } from '../../packages/client/src/types.ts';
import { aVideo } from '../../packages/media/test/videos.ts';
import { inBrowser } from '../contract/support/browser.ts';
import {
  accepted,
  becomes,
  eventually,
  newCaller,
  send,
  settled,
  unique,
} from '../contract/support/client.ts';
import { startClipServer } from '../contract/support/clip-server.ts';
import { seen, signIn, useConsole } from '../contract/support/console.ts';
import { type BrokenBound, brokenBounds } from '../unit/console/catalog-bounds.ts';

const session = useConsole();

/**
 * What is shown at the refused field of each form. The page itself walks through the forms by way of another page:
 * each form begins anew.
 */
const messagesOfForms = async (page: Page, forms: readonly BrokenBound[]): Promise<string[]> => {
  const given = forms.map(({ values, field }) => ({
    field,
    hash: `#/make?${new URLSearchParams(Object.entries(values))}`,
    isEmpty: (values[field] ?? '') === '',
  }));
  return (await page.evaluate(`(async () => {
    const until = async (find) => {
      for (const giveUpAt = performance.now() + 30_000; performance.now() < giveUpAt; ) {
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
    const { body } = await session.caller.get<{ data: CatalogModel[] }>('/v1/models');
    const forms = body.data.flatMap(brokenBounds);
    const { page, problems } = await session.openSignedIn();

    const shown = await messagesOfForms(page, forms);

    const refused = await Promise.all(
      forms.map(async ({ model, values, field }) => {
        const entry = body.data.find(({ id }) => id === model) as Model;
        const answer = await session.caller.post(
          entry.type === 'image' ? '/v1/generations' : '/v1/videos',
          bodyOf(entry, values),
        );
        const { error } = answer.body as { error?: { fields?: Record<string, string> } };
        const label = fieldsOf(entry).find(({ path }) => path === field)?.label ?? '';
        return [answer.status, messageText(label, error?.fields?.[field] ?? '')];
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
      const { page } = await session.openSignedIn();
      await page.getByLabel('Model').selectOption('xW3.0s');
      await page.getByLabel('Prompt').fill('a lighthouse');
      await page.getByLabel('End-user').fill('clips@example.com');
      await page.getByLabel('Reference videos, URL 1').fill(clips.urlOf('long.mp4'));
      await page.getByRole('button', { name: 'Make a video' }).click();

      const wrong = page.getByLabel('Reference videos, URL 1');
      await page
        .locator('#field-referenceVideos-1-message')
        .getByText(/URL 1 lasts 15\.\d+ s; the model takes 1 to 15 s/)
        .waitFor();
      await becomes(() => wrong.getAttribute('aria-invalid'), 'true');
      await eventually(
        () => wrong.evaluate('document.activeElement.id'),
        (id) => id === 'field-referenceVideos-1',
      );
      // It is gone as soon as the field changes.
      await wrong.fill('');
      await becomes(() => page.locator('#field-referenceVideos-1-message').textContent(), '');
    } finally {
      await clips.close();
    }
  },
);

inBrowser('Ten polls of the gallery download each picture once', async () => {
  const artist = await newCaller(session.caller.service);
  // A prompt is text, whatever is in it.
  const made = await Promise.all([
    accepted(artist, { size: '512x512', prompt: unique('<img src="/elsewhere">') }),
    accepted(artist, { size: '640x512' }),
  ]);
  await Promise.all(made.map(({ requestId }) => settled(artist, requestId)));
  // Not made, and so no third picture, while the test runs.
  const unfinished = await accepted(artist, { prompt: unique('[delay=300]') });
  const { page, problems, loaded } = await session.open();
  const list = (path: string) => loaded.filter((one) => one === path).length;
  await page.clock.install();
  await page.goto(`${session.caller.service.baseUrl}/console`);
  await signIn(page, artist.key);
  await page.goto(`${session.caller.service.baseUrl}/console#/requests`);
  await seen(page, '[...document.images].filter((image) => image.naturalWidth > 0).length === 2');

  const before = list('/v1/videos');
  // Each poll is due 5 s after the one before has been answered.
  await eventually(
    async () => {
      await page.clock.runFor(2_500);
      return list('/v1/videos') - before;
    },
    (polls) => polls >= 10,
  );
  await page.waitForLoadState('networkidle');

  expect(list(`/v1/generations/${unfinished.requestId}`) + list('/v1/generations')).toBeGreaterThan(10);
  const pictures = loaded.filter((path) => path.startsWith('/files/'));
  expect(pictures).toHaveLength(2);
  expect(new Set(pictures).size).toBe(2);
  expect(loaded).not.toContain('/elsewhere');

  // A request created elsewhere is shown at the top of the list. A reader further down is offered it.
  await accepted(artist, { prompt: '[fail=content_policy] made elsewhere' });
  await seen(page, "document.querySelector('.gallery .prompt')?.textContent.includes('made elsewhere')");
  await page.setViewportSize({ width: 390, height: 300 });
  await page.evaluate('scrollTo(0, 600)');
  await accepted(artist, { prompt: '[fail=content_policy] made later' });
  await seen(
    page,
    "[...document.querySelectorAll('button')].some((one) => one.textContent === '1 new: show')",
  );
  await becomes(() => page.getByText('made later').count(), 0);
  await page.getByRole('button', { name: '1 new: show' }).click();
  await page.getByText('made later').waitFor();
  expect(problems).toEqual([]);
});

inBrowser(
  'The operator of the local run creates and revokes keys of its account, and sees every rate',
  async () => {
    const { page, problems } = await session.open();
    await page.goto(session.caller.service.consoleUrl);
    await page.getByRole('button', { name: 'Use the key of the local run' }).click();
    await page.getByRole('link', { name: 'Operator' }).click();
    const label = unique();
    await page.getByLabel('Label').fill(label);
    await page.getByRole('button', { name: 'Create a key' }).click();
    const key = (await page.locator('.copied code').textContent()) ?? '';
    const keys = page.getByRole('table', { name: 'Keys' });
    const row = keys.getByRole('row').filter({ hasText: label });
    const withKey = { headers: { authorization: `Bearer ${key}` } };
    expect((await send(session.caller.service, 'GET', '/v1/balance', withKey)).status).toBe(200);

    await row.getByRole('button', { name: /^Revoke/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('revoked').waitFor();
    expect((await send(session.caller.service, 'GET', '/v1/balance', withKey)).status).toBe(401);
    const rates = page.getByRole('table', { name: 'Rates' });
    for (const { id } of CATALOG)
      await rates.getByRole('rowheader', { name: id, exact: true }).first().waitFor();
    expect(problems).toEqual([]);
  },
);
