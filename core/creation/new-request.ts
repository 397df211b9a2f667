import { requiredNumberEnv } from '../environment.ts';
import { pricedPixels } from '../models/image-sizes.ts';
import type { RouteCosts } from '../models/model-settings.ts';
import { imagePrice, type Rate, videoPrice } from '../models/rates.ts';
import type { Thousandths } from '../money.ts';
import { listRouteNames } from '../provider-calls/route-names.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { toInstant } from '../time.ts';
import type { NewImageRequest } from './create-image-rules.ts';
import type { NewVideoRequest } from './create-video-rules.ts';
import type { NewRequest } from './submission.ts';

/**
 * The record of an accepted creation, queued. Its price at this rate, its cost by each route and today's retention are fixed from now
 * on.
 */
export const newRequest = (
  requestId: string,
  accountId: string,
  creation: NewRequest,
  { rate, routeCosts = {} }: { rate: Rate | undefined; routeCosts?: RouteCosts | undefined },
  now: Date,
): StoredRequest => {
  const { model, prompt, endUserEmail, webhookUrl } = creation;
  const priced = isImageRequest(creation) ? pricedImages(creation, rate) : pricedVideo(creation, rate);
  return {
    requestId,
    accountId,
    // It creates its end-user, unless there is one when it is written.
    endUserId: requestId,
    model: model.id,
    prompt,
    endUserEmail,
    ...(webhookUrl === undefined ? {} : { webhookUrl }),
    ...priced,
    ...unitCosts(creation, routeCosts),
    createdAt: toInstant(now),
    retentionDays: requiredNumberEnv('RETENTION_DAYS'),
    status: 'queued',
  };
};

/** Our cost of an image or second by each route of the model that has a cost for its size or resolution. */
const unitCosts = (creation: NewRequest, costs: RouteCosts): Pick<StoredRequest, 'routeCosts'> => {
  const known = (listRouteNames().get(creation.model.id) ?? []).flatMap((route) => {
    const cost = costs[route];
    const unit = cost && unitCost(creation, cost);
    return unit === undefined ? [] : [[route, unit] as const];
  });
  return known.length === 0 ? {} : { routeCosts: Object.fromEntries(known) };
};

const unitCost = (creation: NewRequest, cost: Rate): Thousandths | undefined => {
  if (isImageRequest(creation))
    return 'perImage' in cost ? imagePrice(cost, pricedPixels(creation.size)) : undefined;
  const isKnown = 'perSecond' in cost && cost.perSecond[creation.resolution] !== undefined;
  return isKnown ? videoPrice(cost, creation.resolution) : undefined;
};

/** The debit of a creation at this rate. */
export const priceOf = (creation: NewRequest, rate: Rate | undefined): Thousandths =>
  (isImageRequest(creation) ? pricedImages(creation, rate) : pricedVideo(creation, rate)).debitThousandths;

const isImageRequest = (creation: NewRequest): creation is NewImageRequest => creation.model.type === 'image';

const pricedImages = (creation: NewImageRequest, rate: Rate | undefined) => {
  const { model, size, aspectRatio, images, sequential, references } = creation;
  if (!rate || !('perImage' in rate)) throw new Error(`${model.id} has no rate per image.`);
  const unitPriceThousandths = imagePrice(rate, pricedPixels(size));
  const debitThousandths = unitPriceThousandths * images;
  const fields = { size, aspectRatio, images, sequential, references };
  return { kind: 'image' as const, ...fields, unitPriceThousandths, debitThousandths };
};

const pricedVideo = (creation: NewVideoRequest, rate: Rate | undefined) => {
  const { model, prompt: _, endUserEmail: __, webhookUrl: ___, ...fields } = creation;
  if (!rate || !('perSecond' in rate)) throw new Error(`${model.id} has no rate per second.`);
  const unitPriceThousandths = videoPrice(rate, fields.resolution);
  const debitThousandths = unitPriceThousandths * fields.billedSeconds;
  return { kind: 'video' as const, ...fields, unitPriceThousandths, debitThousandths };
};
