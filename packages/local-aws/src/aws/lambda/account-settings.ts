/** An account's quota of executions at once in a region. */
const QUOTA = 1_000;

/** `GetAccountSettings`, as far as it tells of executions at once. */
export type AccountSettings = {
  AccountLimit: { ConcurrentExecutions: number; UnreservedConcurrentExecutions: number };
};

/** The settings with this quota and these reservations of functions. */
export const accountSettings = (
  quota: number = QUOTA,
  reserved: readonly number[] = [],
): AccountSettings => ({
  AccountLimit: {
    ConcurrentExecutions: quota,
    UnreservedConcurrentExecutions: quota - reserved.reduce((sum, executions) => sum + executions, 0),
  },
});

/** Whether a request to Lambda reads the account's settings. */
export const readsAccountSettings = (method: string, { pathname }: { pathname: string }): boolean =>
  method === 'GET' && /^\/2016-08-19\/account-settings\/?$/.test(pathname);

/** What reading them needs: the action has no resources. */
export const SETTINGS_PERMISSIONS = [{ action: 'lambda:GetAccountSettings', resource: '*' }];
