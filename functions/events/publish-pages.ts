import * as z from 'zod/mini';
import { CONSOLE_PAGES, PUBLIC_PAGES } from '../../core/files/pages.ts';
import { publishPages } from '../../core/files/publish-pages.ts';
import { customResource } from '../cloudformation.ts';

/** The address that the published document names, and whether there is a console. Other properties only tell that there is something new. */
const Properties = z.object({
  BaseUrl: z.string().check(z.minLength(1)),
  Console: z.optional(z.literal('true')),
});

/** There is one set of pages in a stack. */
const PHYSICAL_ID = 'public-pages';

/**
 * Custom resource for the pages that the distribution serves to everyone; they lie beside this function. Create and update put
 * them into the bucket. Delete does nothing: they go with the bucket.
 */
export const handler = customResource(async (event) => {
  if (event.RequestType !== 'Delete') {
    const { BaseUrl, Console } = Properties.parse(event.ResourceProperties);
    const pages = Console ? [...PUBLIC_PAGES, ...CONSOLE_PAGES] : PUBLIC_PAGES;
    await publishPages(new URL('./', import.meta.url), pages, BaseUrl);
  }
  return { physicalId: PHYSICAL_ID };
});
