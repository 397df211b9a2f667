/** The path, as sent, and the query of a request. */
export interface RequestTarget {
  pathname: string;
  searchParams: URLSearchParams;
}

/** Splits a request target. The path stays as it was sent: `URL` would resolve `..`, which may be part of an S3 key. */
export const readRequestTarget = (target: string): RequestTarget => {
  const at = target.indexOf('?');
  return at < 0
    ? { pathname: target, searchParams: new URLSearchParams() }
    : { pathname: target.slice(0, at), searchParams: new URLSearchParams(target.slice(at + 1)) };
};
