import type { Retirement } from '../../core/models/retirement.ts';
import { toEpochSeconds } from '../../core/time.ts';

/** The headers that tell of the announced end of a model, for answers to its creations: RFC 9745 and RFC 8594. None without an end. */
export const retirementHeaders = (retirement: Retirement | undefined): Record<string, string> =>
  retirement
    ? {
        Deprecation: `@${toEpochSeconds(retirement.announcedAt)}`,
        Sunset: new Date(retirement.retiresAt).toUTCString(),
      }
    : {};
