import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { expect, jest, test } from '@jest/globals';
import { accepted, callerWith, eventually, settled, sharedService } from '../contract/support/client.ts';
import { balance, expectUnbrokenChain } from '../contract/support/ledger.ts';
import { type LocalService, ops } from '../contract/support/local-service.ts';
import { acceptedVideo, readVideo } from '../contract/support/videos.ts';
import { runProcess } from '../local/a-service.ts';

/** Each command is a process, which takes seconds on a loaded machine. */
jest.setTimeout(300_000);

/** Two days as staff saw them: each command, and what it printed. Words in angle brackets stand for what differs from day to day. */
const TRANSCRIPTS = readFileSync(new URL('./staff-day.txt', import.meta.url), 'utf8');
const [DAY = '', BAD_DAY = ''] = TRANSCRIPTS.split('\n=== A bad day\n\n');
const CUSTOMER_EMAIL = 'ada@northwind.example';

const COMMAND = /^\$ ops (.+?)(?: {3}# exit status \d)?$/;
/** What went wrong, and the commands that it takes. */
const TROUBLE = /^# .+: (\d+) commands?$/;

/** The lines without times, ids of no matter, the user, bars, and the widths of columns. */
const plain = (text: string): string =>
  text
    .trimEnd()
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(
      /^(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d) {2,}.+? {2,}.+? {2,}(.+?) *[█·]*$/gm,
      '<time>  <span>  $1',
    )
    .replaceAll(/\d{4}-\d\d-01 \(not/g, '<next month>-01 (not')
    .replaceAll(/\b(led|key)_\w+/g, '$1_<id>')
    .replaceAll(/task [\w-]+/g, 'task <id>')
    .replaceAll(userInfo().username, '<user>')
    .replaceAll(/ {2,}/g, '  ')
    .replaceAll(/ +$/gm, '')
    // Whether the provider was queried by now is a matter of seconds.
    .replaceAll(/^<time> {2}waiting, provider polled.*\n/gm, '');

/** A command of a member of staff, and what the terminal shows. `names` has the words that stand for ids. */
const said = async (
  { dataDir }: LocalService,
  names: ReadonlyMap<string, string>,
  command: string,
): Promise<string> => {
  const args = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
  const given = args.map((arg) => names.get(arg) ?? arg);
  const { stdout, stderr, status } = await runProcess([...given, '--data-dir', dataDir]);
  const shown = [...names].reduce((text, [name, id]) => text.replaceAll(id, name), plain(stdout + stderr));
  return `$ ops ${command}${status === 0 ? '' : `   # exit status ${status}`}\n${shown}\n`;
};

/** Runs the commands of a transcript in their order, and returns the transcript as it should be. */
const played = async (
  service: LocalService,
  names: ReadonlyMap<string, string>,
  transcript: string,
): Promise<string> => {
  const day: string[] = [];
  for (const line of transcript.split('\n')) {
    const command = COMMAND.exec(line)?.[1];
    if (command !== undefined) day.push(await said(service, names, command));
    else if (TROUBLE.test(line)) day.push(line);
  }
  return day.join('\n');
};

test('A member of staff finds a late video, refunds it, reports the month and sees who topped up, as the transcript has it', async () => {
  const service = await sharedService();
  const { accountId } = await ops<{ accountId: string }>(
    service,
    ...['accounts', 'create', '--name', 'Northwind', '--contact', 'Grace', '--actor', 'Ben'],
  );
  const topUp = ['balance', 'topup', accountId, '--amount', '500', '--note', 'invoice 7'];
  await ops(service, ...topUp, '--idempotency-key', 'invoice 7', '--actor', 'Ben');
  const { key } = await ops<{ key: string }>(service, 'keys', 'create', accountId, '--actor', 'Ben');
  const customer = callerWith(service, accountId, key);
  const image = await accepted(customer, {
    ...{ model: 'xZI1.0Pro', size: '512x640', prompt: 'a harbour', endUserEmail: CUSTOMER_EMAIL },
  });
  await settled(customer, image.requestId);
  const video = await acceptedVideo(customer, {
    ...{ model: 'xW3.0s', durationSec: 3, endUserEmail: CUSTOMER_EMAIL },
    prompt: 'ships leave the harbour [delay=3000]',
  });
  await eventually(
    () =>
      ops<{ executions: { states: { state: string }[] }[] }>(service, 'requests', 'show', video.requestId),
    ({ executions }) => executions[0]?.states.at(-1)?.state === 'Wait for provider',
  );

  const names = new Map([
    ['<account>', accountId],
    ['<video>', video.requestId],
    ['<image>', image.requestId],
    ['<month>', (video.createdAt ?? '').slice(0, 7)],
  ]);

  expect(await played(service, names, DAY)).toBe(DAY);
  expect((await readVideo(customer, video.requestId)).status).toBe('failed');
  expect(await balance(customer)).toBe(499);
  await expectUnbrokenChain(customer);
});

test('A bad day takes one command a trouble, two for a wrong price, as the transcript has it', async () => {
  const service = await sharedService();
  const { accountId } = await ops<{ accountId: string }>(service, 'accounts', 'create', '--name', 'Contoso');
  await ops(service, 'balance', 'topup', accountId, '--amount', '500', '--note', 'invoice 8');
  const { key } = await ops<{ key: string }>(service, 'keys', 'create', accountId);
  const customer = callerWith(service, accountId, key);
  const image = { model: 'xZI1.0Pro', size: '512x640', endUserEmail: CUSTOMER_EMAIL };
  const failed = await accepted(customer, { ...image, prompt: 'a storm [fail=provider_error]' });
  await settled(customer, failed.requestId);
  await ops(service, 'rates', 'set', image.model, '--account', accountId, '--factor', '3', '--yes');
  const dear = await accepted(customer, { ...image, prompt: 'a harbour' });
  await settled(customer, dear.requestId);

  const names = new Map([
    ['<key>', key],
    ['<account>', accountId],
    ['<failed>', failed.requestId],
    ['<image>', dear.requestId],
  ]);
  expect(await played(service, names, BAD_DAY)).toBe(BAD_DAY);

  const troubles = BAD_DAY.split(/^(?=# )/m).map((part) => [
    Number(TROUBLE.exec(part.split('\n')[0] ?? '')?.[1]),
    part.split('\n').filter((line) => COMMAND.test(line)).length,
  ]);
  expect(troubles.map(([counted]) => counted)).toEqual([1, 1, 2, 1, 1, 2]);
  for (const [counted, commands] of troubles) expect(commands).toBe(counted);
  expect((await customer.get('/v1/balance')).status).toBe(401);
});
