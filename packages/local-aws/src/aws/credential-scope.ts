import type { IncomingMessage } from 'node:http';

import type { RequestTarget } from './request-target.ts';

/** Who signed a request, and for which service it is. */
export interface CredentialScope {
  accessKeyId: string;
  service: string;
}

/** Reads `AKID/date/region/service/aws4_request`. */
const parseCredential = (credential: string | null | undefined): CredentialScope | undefined => {
  const [accessKeyId, , , service, terminator] = credential?.split('/') ?? [];
  return accessKeyId && service && terminator === 'aws4_request' ? { accessKeyId, service } : undefined;
};

/** The credential scope in an Authorization header. Undefined when the header holds no SigV4 signature. */
export const credentialScopeOf = (authorization = ''): CredentialScope | undefined =>
  parseCredential(/Credential=([^,\s]+)/.exec(authorization)?.[1]);

/**
 * The credential scope of a SigV4 request, from its Authorization header or, for a presigned URL, its query. Undefined when the request
 * is not signed. The signature itself is not checked: only this machine can reach the endpoint.
 */
export const readCredentialScope = (
  request: IncomingMessage,
  url: RequestTarget,
): CredentialScope | undefined =>
  credentialScopeOf(request.headers.authorization) ??
  parseCredential(url.searchParams.get('X-Amz-Credential'));
