import { signal } from '@preact/signals';
// Before the address is read: it takes the operator's token out of it.
import './session.ts';

/** A page of the console, from what follows `#` in the address. */
export interface Route {
  /** The first part of the path: `make`, `requests`, … */
  page: string;
  /** The second part, decoded: a request's id. */
  id: string | undefined;
  /** What follows `?`. */
  query: URLSearchParams;
}

/** A part of the path, decoded. A part with a broken encoding stays unchanged: the page then reports an unknown request. */
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

const readRoute = (): Route => {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const [page = '', id] = path.split('/');
  return {
    page: page === '' ? 'make' : page,
    id: id === undefined || id === '' ? undefined : decoded(id),
    query: new URLSearchParams(query),
  };
};

/** The page that is shown. */
export const route = signal(readRoute());
addEventListener('hashchange', () => {
  route.value = readRoute();
});

/** The address of a page of the console. */
export const hrefOf = (page: string, query: Record<string, string> = {}): string => {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#/${page}${search === '' ? '' : `?${search}`}`;
};

/** Opens a page. */
export const open = (page: string): void => {
  location.hash = hrefOf(page);
};

/** Replaces the query of the page that is shown, so that the address can be sent. Adds no step to the history. */
export const replaceQuery = (page: string, query: Record<string, string>): void => {
  history.replaceState(null, '', hrefOf(page, query));
  route.value = readRoute();
};

/**
 * Replaces one part of that query. The others are those of the address, which may have changed since the page was drawn: a link was
 * followed just now.
 */
export const replaceInQuery = (page: string, name: string, value: string): void =>
  replaceQuery(page, { ...Object.fromEntries(readRoute().query), [name]: value });
