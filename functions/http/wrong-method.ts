import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { NotFoundError } from '../../core/errors.ts';
import { methodsOf, OPENAI_BASE_PATH } from '../../core/routes.ts';
import type { RespondWithError } from './responses.ts';

/**
 * The answer to a call of a known path with another method: 404 with `Allow`, whatever its key, content type or body. Of an unknown path
 * for OpenAI's clients: 404. Undefined for a method that the path takes. The gateway cannot answer this itself: its mock integrations
 * take only content types that they list, and its own errors have one shape for all paths.
 */
export const wrongMethod = (
  { resource, httpMethod }: Pick<APIGatewayProxyEvent, 'resource' | 'httpMethod'>,
  respond: RespondWithError,
): APIGatewayProxyResult | undefined => {
  const allowed = methodsOf(resource);
  if (allowed.length === 0 && resource.startsWith(`${OPENAI_BASE_PATH}/`))
    return respond(new NotFoundError('There is no such route.'));
  if (allowed.length === 0 || allowed.includes(httpMethod)) return undefined;
  const methods = allowed.join(', ');
  const response = respond(new NotFoundError(`This route takes ${methods} only.`));
  return { ...response, headers: { ...response.headers, Allow: methods } };
};
