import { CATALOG } from '../../core/models/catalog.ts';
import type { ModelRoutes } from '../../core/provider-calls/model-routes.ts';
import { callsBackFor, type ProviderId } from '../../core/provider-names.ts';
import { TargetError } from '../target.ts';

/** The models that a rehearsal uses. */
export interface RehearsalModels {
  /** Its provider answers when the image is made. */
  image: string;
  /** Its provider's tasks are polled. */
  polledVideo: string;
  /** Its provider calls back. */
  calledBackVideo: string;
}

/** A provider whose images are all made synchronously. */
const SYNCHRONOUS: ProviderId = 'modelark';

/** The first model of each kind with a route. Throws `TargetError` when one is missing. */
export const pickModels = (routes: Readonly<ModelRoutes>): RehearsalModels => {
  const first = (what: string, suits: (provider: string, model: (typeof CATALOG)[number]) => boolean) => {
    const found = CATALOG.find((model) => {
      const provider = routes[model.id]?.[0]?.provider;
      return provider !== undefined && suits(provider, model);
    });
    if (!found) throw new TargetError(`There is no route to ${what}.`);
    return found.id;
  };
  const isVideo = (model: (typeof CATALOG)[number]): boolean =>
    model.type === 'video' && !model.requiresImage;
  return {
    image: first(
      'a synchronous model of images',
      (provider, { type }) => type === 'image' && provider === SYNCHRONOUS,
    ),
    polledVideo: first(
      'a model of videos that is polled',
      (provider, model) => isVideo(model) && !callsBackFor(provider, 'video'),
    ),
    calledBackVideo: first(
      'a model of videos that calls back',
      (provider, model) => isVideo(model) && callsBackFor(provider, 'video'),
    ),
  };
};
