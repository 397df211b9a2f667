import { requiredNumberEnv } from '../environment.ts';
import { pricedPixels } from '../models/image-sizes.ts';
import type { RouteCosts } from '../models/model-settings.ts';
import type { Rate } from '../models/rate-schemas.ts';
import { imagePrice, videoPrice } from '../models/rates.ts';
import type { Thousandths } from '../money.ts';
import { listRouteNames, type RouteFacts, routesFor } from '../provider-calls/model-routes.ts';
import { routeNameOf } from '../provider-names.ts';
import type { StoredRequest, VideoRequest } from '../requests/request-rules.ts';
import { type Instant, toInstant } from '../time.ts';
import type { NewImageRequest } from './create-image-rules.ts';
import type { NewRequest } from './submission.ts';

/**
 * Facts for a new request's record: rate, cost by route, earliest removal of an own file among the inputs, and facts for the
 * first route.
 */
interface NewRequestFacts {
  rate: Rate;
  routeCosts?: RouteCosts | undefined;
  inputsExpireAt?: Instant | undefined;
  routes?: RouteFacts | undefined;
}

/**
 * The record of a new request with status `queued`. Price, cost by route and retention are fixed from now on. The price of a
 * video covers only the output until `withClips` adds the measured reference videos.
 */
export const newRequest = (
  { requestId, accountId }: Pick<StoredRequest, 'requestId' | 'accountId'>,
  creation: NewRequest,
  { rate, routeCosts = {}, inputsExpireAt, routes }: NewRequestFacts,
  now: Date,
): StoredRequest => {
  const unitPriceThousandths = unitPrice(creation, rate);
  if (unitPriceThousandths === undefined)
    throw new Error(`The rate of ${creation.model.id} has no price for it.`);
  const priced = isImageRequest(creation)
    ? { kind: 'image' as const, ...creation, debitThousandths: unitPriceThousandths * creation.images }
    : {
        kind: 'video' as const,
        ...creation,
        billedSeconds: creation.durationSec,
        debitThousandths: unitPriceThousandths * creation.durationSec,
      };
  const request: StoredRequest = {
    requestId,
    accountId,
    // The end-user's id if the request creates the end-user. `writeCreation` replaces the id for a known end-user.
    endUserId: requestId,
    ...priced,
    unitPriceThousandths,
    model: creation.model.id,
    ...unitCosts(creation, routeCosts),
    ...(inputsExpireAt !== undefined && { inputsExpireAt }),
    createdAt: toInstant(now),
    retentionDays: requiredNumberEnv('RETENTION_DAYS'),
    status: 'queued',
  };
  return withFirstRoute(request, routes);
};

/**
 * A request assigned to the first route in use that accepts it. Assign again once the inputs are measured: a route may refuse a
 * file.
 */
export const withFirstRoute = (request: StoredRequest, routes?: RouteFacts): StoredRequest => {
  const [first] = routesFor(request, routes).routes;
  if (!first) return request;
  return { ...request, assignment: { route: routeNameOf(first), number: 1 } };
};

/** The record of a video with the copies of its reference videos, and a price that includes their length. */
export const withClips = (request: VideoRequest, clips: string[], billedSeconds: number): VideoRequest => ({
  ...request,
  clips,
  billedSeconds,
  debitThousandths: request.unitPriceThousandths * billedSeconds,
});

/** Our cost of an image or second by each route of the model that has a cost for its size or resolution. */
const unitCosts = (creation: NewRequest, costs: RouteCosts): Pick<StoredRequest, 'routeCosts'> => {
  const known = (listRouteNames().get(creation.model.id) ?? []).flatMap((route) => {
    const cost = costs[route];
    const unit = cost && unitPrice(creation, cost);
    return unit === undefined ? [] : [[route, unit] as const];
  });
  return known.length === 0 ? {} : { routeCosts: Object.fromEntries(known) };
};

/** The price of an image or a second by a rate; undefined for a rate of the other kind, or without its resolution. */
const unitPrice = (creation: NewRequest, rate: Rate): Thousandths | undefined => {
  if (isImageRequest(creation))
    return 'perImage' in rate ? imagePrice(rate, pricedPixels(creation.size)) : undefined;
  const isKnown = 'perSecond' in rate && rate.perSecond[creation.resolution] !== undefined;
  return isKnown ? videoPrice(rate, creation.resolution) : undefined;
};

const isImageRequest = (creation: NewRequest): creation is NewImageRequest => creation.model.type === 'image';
