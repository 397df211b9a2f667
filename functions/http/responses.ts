import type { APIGatewayProxyResult } from 'aws-lambda';
import type { ErrorBody } from '../../core/error-answers.ts';
import { ERROR_STATUS, ServiceError, UNEXPECTED_ERROR, ValidationError } from '../../core/errors.ts';

/** A JSON response. `apiHandler` adds the standard headers. */
export const json = (
  statusCode: number,
  body: unknown,
  headers: Record<string, string> = {},
): APIGatewayProxyResult => ({ statusCode, headers, body: JSON.stringify(body) });

/** The polling interval that callers are advised to keep, in the answer to a creation and to a read of an unfinished request. */
export const READ_AGAIN = { 'Retry-After': '5' } as const;

/** Makes the response for an error that the caller may see. */
export type RespondWithError = (error: ServiceError) => APIGatewayProxyResult;

/** The response for an error in the API's format. */
export const errorResponse: RespondWithError = (error) => {
  const fields = error instanceof ValidationError ? { fields: error.fields } : {};
  const body: ErrorBody = { error: { code: error.code, message: error.message, ...fields } };
  const retryAfter = error.retryAfterSeconds;
  return json(
    ERROR_STATUS[error.code],
    body,
    retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) },
  );
};

/** The response to any unexpected error: nothing about its cause. */
export const internalError = (cause: unknown): ServiceError =>
  new ServiceError(UNEXPECTED_ERROR.code, UNEXPECTED_ERROR.message, { cause });
