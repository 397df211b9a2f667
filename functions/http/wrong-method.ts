import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { NotFoundError } from '../../core/errors.ts';
import { methodsOf } from '../../core/routes.ts';
import { errorResponse } from './responses.ts';

/**
 * The answer to a call of a known path with another method: 404 with `Allow`, whatever its key, content type or body. Undefined for a
 * method that the path takes. The gateway cannot answer this itself: its mock integrations take only content types that they list.
 */
export const wrongMethod = ({
  resource,
  httpMethod,
}: Pick<APIGatewayProxyEvent, 'resource' | 'httpMethod'>): APIGatewayProxyResult | undefined => {
  const allowed = methodsOf(resource);
  if (allowed.length === 0 || allowed.includes(httpMethod)) return undefined;
  const methods = allowed.join(', ');
  const response = errorResponse(new NotFoundError(`This route takes ${methods} only.`));
  return { ...response, headers: { ...response.headers, Allow: methods } };
};
