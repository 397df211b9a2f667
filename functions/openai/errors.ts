import type { APIGatewayProxyResult } from 'aws-lambda';
import { requiredEnv } from '../../core/environment.ts';
import {
  type ErrorCode,
  type Failure,
  type InputFault,
  ServiceError,
  ValidationError,
} from '../../core/errors.ts';
import { recordUrl } from '../../core/requests/render-record.ts';
import { json, type RespondWithError } from '../http/api-handler.ts';

/** An error as OpenAI's clients read it: the status picks its class, the rest is shown. */
interface OpenAiError {
  status: number;
  type: string;
  code: string;
}

/** The errors of the service, in OpenAI's words. */
const ERRORS: Record<ErrorCode, OpenAiError> = {
  validation_error: { status: 400, type: 'invalid_request_error', code: 'invalid_value' },
  unauthorized: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
  account_blocked: { status: 401, type: 'invalid_request_error', code: 'account_deactivated' },
  payment_required: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  forbidden: { status: 403, type: 'invalid_request_error', code: 'forbidden' },
  not_found: { status: 404, type: 'invalid_request_error', code: 'not_found' },
  conflict: { status: 409, type: 'invalid_request_error', code: 'conflict' },
  content_policy: { status: 400, type: 'image_generation_user_error', code: 'moderation_blocked' },
  rate_limited: { status: 429, type: 'requests', code: 'rate_limit_exceeded' },
  provider_timeout: { status: 500, type: 'server_error', code: 'provider_timeout' },
  provider_error: { status: 500, type: 'server_error', code: 'provider_error' },
  internal_error: { status: 500, type: 'server_error', code: 'internal_error' },
  temporarily_unavailable: { status: 503, type: 'server_error', code: 'temporarily_unavailable' },
};

/** Fields of a creation that have another name at OpenAI. */
const NAMES = new Map([
  ['endUserEmail', 'user'],
  ['references', 'image'],
]);
const NAMES_FOR_VIDEOS = new Map([
  ['endUserEmail', 'user'],
  ['image', 'input_reference'],
  ['durationSec', 'seconds'],
  ['resolution', 'size'],
  ['ratio', 'size'],
]);

const USER_PROBLEM =
  'must be the email address of your own user, unless the API key has a default end-user. Operators give it one.';

const UNKNOWN = 'is not a known field';
const CODE_OF_PROBLEM: Record<string, string> = {
  'is required': 'missing_required_parameter',
  [UNKNOWN]: 'unknown_parameter',
};

/** The message for a model that is not on offer, with the names to choose from. */
export const unknownModelProblem = (model: string, onOffer: readonly string[]): string => {
  const choice = onOffer.length > 0 ? `choose ${onOffer.join(', ')}` : 'no model is';
  return `${JSON.stringify(model.slice(0, 100).toWellFormed())} is not on offer: ${choice}`;
};

/** A model that is not there, in OpenAI's words. */
export class NoSuchModelError extends ServiceError {
  constructor(model: string, onOffer: readonly string[]) {
    super('not_found', `The model ${unknownModelProblem(model, onOffer)}.`);
  }
}

/** The name of a creation's field at OpenAI, without its index. */
const paramOf = (field: string, names: ReadonlyMap<string, string> = NAMES): string =>
  names.get(field.replace(/\[.*/s, '')) ?? field;

/** A provider refused an input of a request, so that the same call would fail again: 400, which the clients do not repeat. */
export class RefusedInputError extends ServiceError {
  readonly param: string | undefined;

  constructor({ code, message }: Failure, { field }: InputFault) {
    const named = [...NAMES].reduce((text, [name, alias]) => text.replaceAll(name, alias), message);
    super(code === 'content_policy' ? code : 'validation_error', named);
    this.param = field === undefined ? undefined : paramOf(field);
  }
}

/** The response for an error in OpenAI's format. Of several wrong parameters it names one. */
export const openAiErrorResponse: RespondWithError = (error) => errorResponse(error, NAMES);

/** The response for an error of a call for videos. */
export const openAiVideoErrorResponse: RespondWithError = (error) => errorResponse(error, NAMES_FOR_VIDEOS);

const errorResponse = (error: ServiceError, names: ReadonlyMap<string, string>): APIGatewayProxyResult => {
  const { status, type, code } = ERRORS[error.code];
  const { retryAfterSeconds } = error;
  // The clients repeat 409 and 429, too, where the same call would come to the same end.
  const isFinal = status < 500 && error.code !== 'rate_limited';
  return json(
    status,
    { error: { message: error.message, type, param: null, code, ...detailsOf(error, names) } },
    {
      ...(isFinal && { 'x-should-retry': 'false' }),
      ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
    },
  );
};

const detailsOf = (
  error: ServiceError,
  names: ReadonlyMap<string, string>,
): { message?: string; param?: string; code?: string } => {
  if (error instanceof NoSuchModelError) return { param: 'model', code: 'model_not_found' };
  if (error instanceof RefusedInputError) return error.param === undefined ? {} : { param: error.param };
  if (!(error instanceof ValidationError)) return {};
  const [field = 'body', problem = ''] = Object.entries(error.fields)[0] ?? [];
  if (field === 'body') return {};
  const param = problem === UNKNOWN ? field : paramOf(field, names);
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
