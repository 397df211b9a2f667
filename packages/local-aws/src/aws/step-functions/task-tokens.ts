import { randomBytes } from 'node:crypto';

/** The execution of a token. */
export interface TokenOwner {
  machineName: string;
  executionName: string;
}

const SEPARATOR = '\n';

/** A new token for a task of an execution. Tokens die with the process: their executions start again. */
export const createToken = ({ machineName, executionName }: TokenOwner): string =>
  Buffer.from(
    ['task', machineName, executionName, randomBytes(18).toString('base64url')].join(SEPARATOR),
  ).toString('base64url');

/** The owner of a token; undefined when it is malformed. */
export const readToken = (token: string): TokenOwner | undefined => {
  const text = Buffer.from(token, 'base64url').toString('utf8');
  const [mark, machineName, executionName, nonce] = text.split(SEPARATOR);
  return mark === 'task' && machineName && executionName && nonce
    ? { machineName, executionName }
    : undefined;
};
