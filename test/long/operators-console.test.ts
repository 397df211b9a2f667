import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from '@jest/globals';
import { inBrowser } from '../contract/support/browser.ts';
import { accepted, settled } from '../contract/support/client.ts';
import { useConsole } from '../contract/support/console.ts';
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
      expect(page.url()).toBe(`${new URL(url).origin}/console`);
      await page.getByText(/^Service: local run, version \d/).waitFor();
      expect(await page.getByRole('navigation').innerText()).toMatch(/^Operator\s+API docs$/);
      expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
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

      // Started again, the address is another one: the page of the old one says so.
      await page.evaluate("sessionStorage.setItem('operatorToken', 'old')");
      await page.reload();
      await page.getByText('open the address that the terminal shows').waitFor();
      expect(await page.getByLabel('API key').count()).toBe(0);
    } finally {
      const ended = once(ops, 'exit');
      ops.kill('SIGINT');
      await ended;
    }
  },
);
