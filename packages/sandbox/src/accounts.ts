import type { IncomingHttpHeaders } from 'node:http';
import type { Upstream } from './http.ts';

/** The name of an account after the key that every sandbox takes: `sandbox-key@eu`. */
const NAMED_KEY = /^(?:Bearer|Key) (?<key>.+)@(?<name>[a-z][a-z0-9]{0,19})$/;

/**
 * One upstream with any number of accounts, each with its own tasks and limits. `<key>@<name>` is the key of the account of that name,
 * the key alone that of the first account. `create` makes the upstream of the account with a key.
 */
export const withAccounts = (apiKey: string, create: (apiKey: string) => Upstream): Upstream => {
  const first = create(apiKey);
  const others = new Map<string, Upstream>();
  const accountOf = ({ authorization = '' }: IncomingHttpHeaders): Upstream => {
    const { key, name } = NAMED_KEY.exec(authorization)?.groups ?? {};
    if (key !== apiKey || name === undefined) return first;
    const account = others.get(name) ?? create(`${apiKey}@${name}`);
    others.set(name, account);
    return account;
  };
  return {
    ...first,
    checkKey: (headers, path) => accountOf(headers).checkKey(headers, path),
    routes: first.routes.map(({ handle, ...route }, index) => ({
      ...route,
      handle: (call) => (accountOf(call.headers).routes[index]?.handle ?? handle)(call),
    })),
  };
};
