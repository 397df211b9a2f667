import { type Command, Option } from 'commander';
import { getAccount } from '../../core/accounts/accounts.ts';
import type { AuditWrite } from '../../core/audit/audit.ts';
import { listEndUsers } from '../../core/end-users/end-user-lists.ts';
import {
  blockEndUser,
  type EndUser,
  type EndUserId,
  getEndUser,
  renderEndUser,
  unblockEndUser,
} from '../../core/end-users/end-users.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, mapPage } from '../../core/table/pages.ts';
import { systemClock } from '../../core/time.ts';
import { email, oneOf, pageNumber, pageSize, text } from '../options.ts';
import { formatFields, formatTable, type Result } from '../output.ts';
import { removeEndUser } from '../remove-end-user.ts';
import { about } from '../subject.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';

const YES_OR_NO = ['yes', 'no'] as const;

/** `end-users list|show|block|unblock|delete` */
export const addEndUserVerbs = (endUsers: Command, perform: Perform): void => {
  const ofAccount = (name: string, description: string): Command =>
    about(endUsers.command(name).description(description), 'account', 'the account');
  const ofOne = (name: string, description: string): Command =>
    about(ofAccount(name, description), 'email', 'their address', { parse: email });
  ofAccount('list', "an account's end-users, newest first")
    .option('--search <text>', 'only those with this in their address', text)
    .addOption(
      new Option('--blocked <answer>', 'only those who are blocked, or are not')
        .choices(YES_OR_NO)
        .argParser((value) => oneOf(YES_OR_NO, value)),
    )
    .option('--page <number>', 'page number, from 1', pageNumber, 1)
    .option(
      '--page-size <number>',
      `end-users per page, at most ${MAX_PAGE_SIZE}`,
      pageSize,
      DEFAULT_PAGE_SIZE,
    )
    .action(perform(list));
  ofOne('show', 'one end-user').action(perform(show));
  ofOne('block', 'refuse their creations; requests in progress continue').action(perform(block));
  ofOne('unblock', 'accept their creations again').action(perform(unblock));
  ofOne('delete', 'erase them with all their requests and files; repeat it to go on')
    .option('--yes', 'do it')
    .action(perform(erase));
};

interface ListOptions {
  account: string;
  search?: string;
  blocked?: (typeof YES_OR_NO)[number];
  page: number;
  pageSize: number;
}

const list: Verb<ListOptions> = async ({ account, search, blocked, page, pageSize }, connected) => {
  await connected();
  const { accountId } = await getAccount(account);
  const filter = { email: search, blocked: blocked && blocked === 'yes' };
  const value = mapPage(await listEndUsers(accountId, filter, { page, pageSize }), renderEndUser);
  const more = value.hasMore ? `\n\nMore on --page ${page + 1}.` : '';
  return {
    value,
    text: (columns) =>
      formatTable(
        ['email', 'requests', 'xTokens spent', 'last active', 'blocked'],
        value.items.map((endUser) => [
          ...[endUser.email, endUser.totalRequests, endUser.totalXTokensSpent],
          ...[endUser.lastActiveAt, endUser.blockedAt],
        ]),
        columns,
      ) + more,
  };
};

interface OneOptions {
  account: string;
  email: string;
}

const resultOf = (endUser: EndUser): Result => {
  const { activeRequests, endUserId } = endUser;
  const value = { ...renderEndUser(endUser), activeRequests, endUserId };
  return { value, text: (columns) => formatFields(value, columns) };
};

const show: Verb<OneOptions> = async ({ account, email }, connected) => {
  await connected();
  const { accountId } = await getAccount(account);
  return resultOf(await getEndUser({ accountId, email }));
};

/** Records a change of an end-user by their id: the address goes when they are deleted, the record stays. */
const changing =
  (change: (id: EndUserId, extraWrites: AuditWrite[]) => Promise<EndUser>): Verb<OneOptions> =>
  async ({ account, email }, connected, { recorder }) => {
    await connected();
    const { accountId } = await getAccount(account);
    const { endUserId: subject } = await getEndUser({ accountId, email });
    const extraWrites = (await recorder()).write({ accountId, subject });
    return resultOf(await change({ accountId, email }, extraWrites));
  };

/** As the API's DELETE: the record of the erasure names the end-user by id, and stays. */
const erase: Verb<OneOptions & { yes?: true }> = async ({ account, email, yes }, connected, { recorder }) => {
  await connected();
  const { accountId } = await getAccount(account);
  const { endUserId, totalRequests } = await getEndUser({ accountId, email });
  if (!yes) {
    throw new UsageError(
      `This erases end-user ${endUserId}, who has made ${totalRequests} requests, with their files. Give --yes to do it.`,
    );
  }
  const extraWrites = (await recorder()).write({ accountId, subject: endUserId });
  const value = {
    accountId,
    endUserId,
    ...(await removeEndUser({ accountId, email }, systemClock, extraWrites)),
  };
  return { value, text: (columns) => formatFields(value, columns) };
};

const block = changing((id, extraWrites) => blockEndUser(id, new Date(), extraWrites));
const unblock = changing(unblockEndUser);
