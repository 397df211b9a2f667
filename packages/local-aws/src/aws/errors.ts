/** An error of an AWS service: code, message and HTTP status. */
export class AwsError extends Error {
  override readonly name = 'AwsError';
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** A text property of a thrown value. Errors of Node's modules may belong to another realm, so `instanceof Error` does not hold. */
const textOf = (thrown: unknown, property: 'name' | 'message' | 'code'): string | undefined => {
  const value = typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, property) : undefined;
  return typeof value === 'string' ? value : undefined;
};

/** The message of a thrown value. */
export const messageOf = (thrown: unknown): string => textOf(thrown, 'message') ?? String(thrown);

/** The name of a thrown value; `Error` when it has none. */
export const nameOf = (thrown: unknown): string => textOf(thrown, 'name') ?? 'Error';

/** The `code` of a system error (`ENOENT`, …); undefined for anything else. */
export const systemCodeOf = (thrown: unknown): string | undefined => textOf(thrown, 'code');
