import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from '@jest/globals';
import { inBrowser } from '../contract/support/browser.ts';
import { accepted, becomes, settled, unique } from '../contract/support/client.ts';
import { seen, useConsole } from '../contract/support/console.ts';
import { startProcess } from '../local/a-service.ts';

const session = useConsole();

inBrowser(
  'ops console shows an operator any request, keys, rates and routes, and asks for no API key',
  async () => {
    const { caller } = session;
    const { requestId } = await accepted(caller, { model: 'xZI1.0Pro', prompt: 'seen by staff' });
    await settled(caller, requestId);
    const ops = startProcess(['console', '--data-dir', caller.service.dataDir]);
    if (!ops.stdout) throw new Error('It prints nothing.');
    try {
      const [line] = await once(createInterface({ input: ops.stdout }), 'line');
      const url = /http\S+/.exec(String(line))?.[0] ?? '';
      const { page, problems } = await session.open({}, new URL(url).origin);
      await page.goto(url);

      await page.getByRole('heading', { name: 'Operator' }).waitFor();
      await becomes(() => page.url(), `${new URL(url).origin}/console`);
      await page.getByText(/^Service: local run, version \d/).waitFor();
      const navigation = page.getByRole('navigation');
      await becomes(() => navigation.innerText(), expect.stringMatching(/^Operator\s+API docs$/));
      await becomes(() => page.getByRole('button', { name: 'Sign out' }).count(), 0);
      await page.getByRole('combobox', { name: 'Account' }).selectOption(caller.accountId);
      await page.getByRole('heading', { name: 'Keys of a test' }).waitFor();
      await page.getByLabel('Label').fill('by staff');
      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByText('Store it now: it is not shown again.').waitFor();
      for (const name of ['Rates', 'Routes']) await page.getByRole('heading', { name }).waitFor();

      await page.getByLabel('Request ID, of any account').fill(requestId);
      await page.getByRole('button', { name: 'Show request' }).click();
      await page.getByRole('heading', { name: 'Timeline' }).waitFor();
      await page.getByText('seen by staff', { exact: true }).waitFor();
      await page.getByText('Only a key of its account opens this file.').waitFor();

      await page.reload();
      await page.getByRole('heading', { name: 'Timeline' }).waitFor();
      expect(problems).toEqual([]);

      // A restarted console has a new address, and the page of the old address says so.
      await page.evaluate("sessionStorage.setItem('operatorToken', 'old')");
      await page.reload();
      await page.getByText('open the address that the terminal shows').waitFor();
      await becomes(() => page.getByLabel('API key').count(), 0);
    } finally {
      const ended = once(ops, 'exit');
      ops.kill('SIGINT');
      await ended;
    }
  },
);

const SEVERAL_ROUTES = 'document.querySelectorAll(\'[aria-label="Routes"] tbody tr\').length > 5';

/** The operator's page of the local run, with the caller's key, and its clock in the test's hands. */
const openOperator = async () => {
  const watched = await session.openSignedIn();
  await watched.page.evaluate("location.hash = '#/operator'");
  for (const name of ['Routes', 'Keys', 'Rates', 'Audit'])
    await watched.page.getByRole('table', { name }).waitFor();
  return watched;
};

inBrowser(
  'An operator sees requests, end-users and the audit of all accounts, and tops an account up',
  async () => {
    const { caller } = session;
    const email = `${unique().replaceAll(/\W/g, '')}@example.com`;
    const { requestId } = await accepted(caller, {
      model: 'xZI1.0Pro',
      prompt: unique(),
      endUserEmail: email,
    });
    await settled(caller, requestId);
    const { page, problems } = await openOperator();

    await page.getByLabel('Owner').selectOption(caller.accountId);
    await page.getByRole('table', { name: 'Requests' }).getByRole('link', { name: requestId }).waitFor();
    await page.getByLabel('Part of the address').fill(email);
    await page.getByRole('button', { name: 'Search end-users' }).click();
    await page.getByRole('table', { name: 'End-users' }).getByRole('rowheader', { name: email }).waitFor();

    const balance = async () => ((await caller.get('/v1/balance')).body as { xTokens: number }).xTokens;
    const before = await balance();
    await page.getByLabel('xTokens to add').fill('a lot');
    await page.getByRole('button', { name: 'Top up' }).click();
    await page.getByText('It must be a number of xTokens with at most 3 decimals.').waitFor();
    await page.getByLabel('xTokens to add').fill('12.5');
    await page.getByRole('button', { name: 'Top up' }).click();
    await page.locator('.notice').getByText('The balance of a test is').waitFor();
    await becomes(balance, before + 12.5);
    const latest = page.getByRole('table', { name: 'Audit' }).locator('tbody tr').first();
    await becomes(() => latest.innerText(), expect.stringContaining('balance topup'));

    // A new tab has no storage of its own.
    const link = page.getByRole('table', { name: 'Requests' }).getByRole('link', { name: requestId });
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      link.click({ modifiers: ['ControlOrMeta'] }),
    ]);
    await tab.getByRole('heading', { name: 'Timeline' }).waitFor();
    // The start page is nobody's, also beside a tab that is signed in.
    const other = await page.context().newPage();
    await other.goto(`${caller.service.baseUrl}/console`);
    await other.getByLabel('API key').waitFor();
    // The refused top-up is one for the browser, too.
    expect(problems).toEqual([expect.stringContaining('status of 400')]);
  },
);

inBrowser(
  'A lost connection is said on the page and at each action, and is over when the service is back',
  async () => {
    const { page } = await openOperator();
    await page.clock.install();
    const said = page.getByText('could not be reached');
    const answers: Parameters<typeof page.route>[1][] = [
      (route) => route.abort(),
      (route) => route.fulfill({ body: '<h1>Sign in to this network</h1>' }),
      // A run that is starting.
      (route) => route.fulfill({ status: 503, body: '{"error":{"message":"The local run is starting."}}' }),
    ];

    for (const answer of answers) {
      await page.route('**/operator/**', answer);
      const rate = page.getByLabel('xTokens for a second of 720p, xW2.7S');
      await rate.fill('6');
      await rate.locator('..').getByRole('button').click();
      await rate.locator('..').getByText('could not be reached').waitFor();
      await page.getByLabel('Label').fill('x');
      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByLabel('xTokens to add').fill('1');
      await page.getByRole('button', { name: 'Top up' }).click();
      await page
        .getByRole('button', { name: /^Revoke/ })
        .first()
        .click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('dialog').getByText('could not be reached').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      // On the page, at the rate, the key and the top-up.
      await becomes(() => said.count(), 4);

      await page.unroute('**/operator/**');
      await seen(page, "!document.body.innerText.includes('could not be reached')");
      await seen(page, SEVERAL_ROUTES);
    }
  },
);

inBrowser('A page that is opened while the service is gone shows everything once it is back', async () => {
  const { page } = await session.openSignedIn();
  await page.clock.install();
  await page.route('**/operator/**', (route) => route.abort());
  await page.evaluate("location.hash = '#/operator'");
  await page.getByText('could not be reached').waitFor();

  await page.unroute('**/operator/**');
  await seen(page, SEVERAL_ROUTES);
  await page.getByRole('table', { name: 'Keys' }).waitFor();
  await page.getByRole('table', { name: 'Audit' }).waitFor();
  await becomes(() => page.getByText('could not be reached').count(), 0);
});

inBrowser(
  'Dialogs name a key by its label and its last four characters; a wrong key is told as such',
  async () => {
    const { page } = await openOperator();
    const label = unique();
    await page.getByLabel('Label').fill(label);
    await page.getByRole('button', { name: 'Create a key' }).click();
    const key = (await page.locator('.copied code').textContent()) ?? '';
    const row = page.getByRole('table', { name: 'Keys' }).getByRole('row').filter({ hasText: label });
    await row.getByRole('button', { name: /^Revoke/ }).click();
    await page
      .getByRole('dialog')
      .getByText(`“${label}” (…${key.slice(-4)})`)
      .waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page
      .locator('.notice')
      .getByText(`The key “${label}” (…${key.slice(-4)}) is revoked.`)
      .waitFor();

    await page.getByLabel('Request ID, of any account').fill('img_none');
    await page.getByRole('button', { name: 'Show request' }).click();
    await page.getByText('There is no request img_none.').first().waitFor();
    await becomes(() => page.locator('main').innerText(), expect.not.stringMatching(/requests list|--\w/));

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This API key is not valid.').waitFor();
  },
);
