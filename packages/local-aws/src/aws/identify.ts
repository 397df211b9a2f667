import type { Principal } from '../types.ts';
import type { CredentialScope } from './credential-scope.ts';
import { AwsError } from './errors.ts';

/** The caller and the service of a signature. Throws AWS's errors where there is none, and for an unknown key. */
export const identify = (
  scope: CredentialScope | undefined,
  principals: ReadonlyMap<string, Principal>,
  isKnown: (service: string) => boolean,
): { service: string; principal: Principal } => {
  if (!scope) {
    throw new AwsError('MissingAuthenticationTokenException', 'Missing Authentication Token', 403);
  }
  const { service, accessKeyId } = scope;
  const principal = principals.get(accessKeyId);
  if (principal) return { service, principal };
  if (service === 's3') {
    const message = 'The AWS Access Key Id you provided does not exist in our records.';
    throw new AwsError('InvalidAccessKeyId', message, 403);
  }
  const code = isKnown(service) ? 'UnrecognizedClientException' : 'InvalidClientTokenId';
  throw new AwsError(code, 'The security token included in the request is invalid.', 403);
};
