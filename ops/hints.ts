import { ServiceError } from '../core/errors.ts';
import { TargetError } from './target.ts';

/** Advice after an error of the service, by its message. */
const HINTS_BY_MESSAGE: readonly [RegExp, string][] = [
  [/^There is no request \S+\.$/, 'List requests with: requests list'],
  [/^There is no account /, 'List accounts with: accounts list'],
  [/^There is no (image )?model /, 'List models with: models list'],
  [/^There is no alias /, 'List aliases with: models alias list'],
  [/^There is no route /, 'List routes with: routes list'],
  [/^There is no key |is no API key/, 'List the keys of an account with: keys list --account <id>'],
  [/^The balance is \S+: an operator cannot raise it/, 'Give a lower --amount.'],
  [
    /^Request \S+ (has already|succeeded before|failed before)/,
    'See what happened with: requests show --id <id>',
  ],
];

const CREDENTIALS = 'Check the AWS credentials of this shell: aws sts get-caller-identity';
const REFUSED = "These AWS credentials may not do this: docs/operating.md, The operators' command line";
const LATER = 'Repeat the command in a minute.';

/** Advice after an error of AWS or of the network, by its name or code. */
const HINTS_BY_NAME: Readonly<Record<string, string>> = {
  AccessDenied: REFUSED,
  AccessDeniedException: REFUSED,
  ExpiredToken: CREDENTIALS,
  ExpiredTokenException: CREDENTIALS,
  CredentialsProviderError: CREDENTIALS,
  InvalidSignatureException: CREDENTIALS,
  UnrecognizedClientException: CREDENTIALS,
  ResourceNotFoundException: 'Name the right stack by --stack, and its region by --region.',
  ThrottlingException: LATER,
  ProvisionedThroughputExceededException: LATER,
  ECONNREFUSED: 'If the local run has stopped, start it with: npm start',
};

/** A sentence on what to do next; empty when the error's message says it, or nothing helps. */
export const hintFor = (error: Error): string => {
  if (error instanceof TargetError)
    return 'Start a local run with npm start, or name a stack by --stack and --region.';
  if (error instanceof ServiceError) {
    return HINTS_BY_MESSAGE.find(([pattern]) => pattern.test(error.message))?.[1] ?? '';
  }
  const { code = '' } = error as NodeJS.ErrnoException;
  return HINTS_BY_NAME[error.name] ?? HINTS_BY_NAME[code] ?? '';
};
