import * as z from 'zod/mini';
import { findModel } from '../core/models/catalog.ts';
import { ImageModelData, type ModelData, VideoModelData } from '../core/models/model-data.ts';
import { type ModelProblem, modelProblems } from '../core/models/model-problems.ts';
import { type ModelRoutes, RouteList } from '../core/provider-calls/model-routes.ts';
import { routeProblems } from '../core/provider-calls/route-problems.ts';
import { type ProviderAccounts, unknownAccountsIn } from './provider-accounts.ts';

/** The operator's own models: each as the catalog's data file has one, with its routes. */
export const OwnModels = z.array(
  z.discriminatedUnion('type', [
    z.extend(ImageModelData, { routes: RouteList }),
    z.extend(VideoModelData, { routes: RouteList }),
  ]),
);
export type OwnModels = z.infer<typeof OwnModels>;

/** Own models as the data file has them. */
export const dataOf = (models: OwnModels): ModelData[] => models.map(({ routes: _, ...data }) => data);

/** The routes of all models: those of the project's, and of the operator's own. */
export const allRoutes = (routes: ModelRoutes, own: OwnModels): ModelRoutes => ({
  ...routes,
  ...Object.fromEntries(own.map(({ id, routes: list }) => [id, list])),
});

/** What is wrong with own models beside the routes and accounts of the context, each problem with its path below `models`. */
export const problemsOfOwnModels = (
  models: OwnModels,
  { modelRoutes, providerAccounts }: { modelRoutes: ModelRoutes; providerAccounts?: ProviderAccounts },
): [path: (string | number)[], message: string][] =>
  models.flatMap((model, index) => {
    const { id, routes } = model;
    const ofRoutes = [
      ...(Object.hasOwn(modelRoutes, id) ? [`modelRoutes has routes of ${id}, too`] : []),
      ...unknownAccountsIn({ [id]: routes }, providerAccounts),
    ];
    const problems: ModelProblem[] = [
      ...idProblems(id, models.slice(0, index)),
      ...ofRoutes.map((message): ModelProblem => [['routes'], message]),
      ...modelProblems(model),
      ...routeProblems(model, routes),
    ];
    return problems.map(([path, message]) => [[index, ...path], `${model.id}: ${message}`]);
  });

const idProblems = (id: string, earlier: readonly { id: string }[]): ModelProblem[] => {
  if (findModel(id)) return [[['id'], 'The catalog has a model of this id']];
  return earlier.some((other) => other.id === id) ? [[['id'], 'Another of these models has this id']] : [];
};
