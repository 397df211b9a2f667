import type { APIGatewayProxyResult } from 'aws-lambda';
import { requiredEnv } from '../../core/environment.ts';
import { type ErrorCode, ServiceError, ValidationError } from '../../core/errors.ts';
import { recordUrl } from '../../core/requests/render-record.ts';
import { json, type RespondWithError } from '../http/api-handler.ts';

/** An error as OpenAI's clients read it: the status picks its class, the rest is shown. */
interface OpenAiError {
  status: number;
  type: string;
  code: string;
  /** Whether the clients may retry, where that is not what the status says. */
  shouldRetry?: boolean;
}

/** The errors of the service, in OpenAI's words. */
const ERRORS: Record<ErrorCode, OpenAiError> = {
  validation_error: { status: 400, type: 'invalid_request_error', code: 'invalid_value' },
  unauthorized: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
  account_blocked: { status: 401, type: 'invalid_request_error', code: 'account_deactivated' },
  payment_required: {
    status: 429,
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    shouldRetry: false,
  },
  forbidden: { status: 403, type: 'invalid_request_error', code: 'forbidden' },
  not_found: { status: 404, type: 'invalid_request_error', code: 'not_found' },
  // The clients would send the same again, to the same end.
  conflict: { status: 409, type: 'invalid_request_error', code: 'conflict', shouldRetry: false },
  content_policy: { status: 400, type: 'image_generation_user_error', code: 'moderation_blocked' },
  rate_limited: { status: 429, type: 'requests', code: 'rate_limit_exceeded' },
  provider_timeout: { status: 500, type: 'server_error', code: 'provider_timeout' },
  provider_error: { status: 500, type: 'server_error', code: 'provider_error' },
  internal_error: { status: 500, type: 'server_error', code: 'internal_error' },
  temporarily_unavailable: { status: 503, type: 'server_error', code: 'temporarily_unavailable' },
};

/** Fields of a creation that have another name here. */
const NAMES = new Map([
  ['endUserEmail', 'user'],
  ['references', 'image'],
]);

const USER_PROBLEM =
  'must be the email address of your own user, unless the API key has a default end-user. Operators give it one.';

const UNKNOWN = 'is not a known field';
const CODE_OF_PROBLEM: Record<string, string> = {
  'is required': 'missing_required_parameter',
  [UNKNOWN]: 'unknown_parameter',
};

/** A model that is not there, in OpenAI's words. */
export class NoSuchModelError extends ServiceError {
  constructor(model: string) {
    super('not_found', `The model '${model.slice(0, 100).toWellFormed()}' does not exist.`);
  }
}

/** The response for an error in OpenAI's format. Of several wrong parameters it names one. */
export const openAiErrorResponse: RespondWithError = (error) => {
  const { status, type, code, shouldRetry } = ERRORS[error.code];
  const { retryAfterSeconds } = error;
  return json(
    status,
    { error: { message: error.message, type, param: null, code, ...detailsOf(error) } },
    {
      ...(shouldRetry !== undefined && { 'x-should-retry': String(shouldRetry) }),
      ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
    },
  );
};

const detailsOf = (error: ServiceError): { message?: string; param?: string; code?: string } => {
  if (error instanceof NoSuchModelError) return { param: 'model', code: 'model_not_found' };
  if (!(error instanceof ValidationError)) return {};
  const [field = 'body', problem = ''] = Object.entries(error.fields)[0] ?? [];
  if (field === 'body') return {};
  const param = problem === UNKNOWN ? field : (NAMES.get(field.replace(/\[.*/s, '')) ?? field);
  const said = param === 'user' && field !== 'user' ? USER_PROBLEM : problem;
  return { message: `'${param}' ${said}`, param, code: CODE_OF_PROBLEM[problem] ?? 'invalid_value' };
};

/** 408: the images take longer, or another equal call waits for them now. An equal call collects them, the client's own retry too. */
export const stillMakingResponse = (requestId: string | undefined): APIGatewayProxyResult => {
  const of = requestId === undefined ? '' : ` of ${requestId}`;
  const message = `The images${of} are still being made. The same call, sent again, waits for them.`;
  const error = { message, type: 'server_error', param: null, code: 'still_processing' };
  const location = requestId !== undefined && {
    Location: recordUrl(requiredEnv('PUBLIC_BASE_URL'), { kind: 'image', requestId }),
  };
  return json(408, { error }, { ...location, 'x-should-retry': 'true' });
};
