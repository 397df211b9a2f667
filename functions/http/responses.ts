import type { APIGatewayProxyResult } from 'aws-lambda';
import { ERROR_STATUS, ServiceError, UNEXPECTED_ERROR, ValidationError } from '../../core/errors.ts';

/** The body of every error: the message is shown as it is. */
export interface ErrorBody {
  error: { code: string; message: string; fields?: Record<string, string> };
}

/** A JSON response. The headers every response carries are added on the way out. */
export const json = (
  statusCode: number,
  body: unknown,
  headers: Record<string, string> = {},
): APIGatewayProxyResult => ({ statusCode, headers, body: JSON.stringify(body) });

/** The response that tells of an error the caller may know about. */
export const errorResponse = (error: ServiceError): APIGatewayProxyResult => {
  const fields = error instanceof ValidationError ? { fields: error.fields } : {};
  const body: ErrorBody = { error: { code: error.code, message: error.message, ...fields } };
  const retryAfter = error.retryAfterSeconds;
  return json(
    ERROR_STATUS[error.code],
    body,
    retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) },
  );
};

/** What every unexpected error becomes: nothing of the inside is shown. */
export const internalError = (cause: unknown): ServiceError =>
  new ServiceError(UNEXPECTED_ERROR.code, UNEXPECTED_ERROR.message, { cause });
