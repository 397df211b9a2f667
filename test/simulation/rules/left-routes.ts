import { listModelSettings, putLeftRoute } from '../../../core/models/model-settings.ts';
import { listModelRoutes } from '../../../core/provider-calls/model-routes.ts';
import { routeNameOf } from '../../../core/provider-names.ts';
import { modelSettingsKey, PROVIDER_ATTEMPT_PREFIX } from '../../../core/table/keys.ts';
import { toInstant } from '../../../core/time.ts';
import type { Item } from '../../unit/fakes/expressions.ts';
import type { Life } from '../evidence/witness.ts';
import { Part } from '../world/part.ts';
import type { World } from '../world/world.ts';

/** The settings of no model, where the routes that are left are. */
const SETTINGS = modelSettingsKey('*');
/** The longest from a read of the settings, which are 5 s old at most, to the acceptance of a request. */
const CREATION_MS = 35_000;
/** From the read of the settings to the claim of a call. */
const KNOWN_MS = 15_000;

/**
 * The routes that operators leave by hand and return to. Checks two rules: no request is accepted for a model without
 * a route in use, and no request makes its first call at a route that is switched off.
 */
export class LeftRoutes extends Part {
  constructor(world: World) {
    super(world);
    world.table.witnesses.push((_key, before, after) => {
      if (after?.PK === SETTINGS.PK && after.SK === SETTINGS.SK) this.see(after);
      if (String(after?.SK).startsWith(PROVIDER_ATTEMPT_PREFIX) && !before) this.judgeClaim(after as Item);
    });
  }

  /** Leaves a route. One command of four is of an operator who does not know that no other route is in use. */
  async leave(pick: number): Promise<void> {
    const { leftSince } = this.world.evidence;
    const lists = Object.values(listModelRoutes()).map((routes) => routes.map(routeNameOf));
    const isInUse = (name: string): boolean => !leftSince.has(name);
    const names = lists.flatMap((routes) => {
      const inUse = routes.filter(isInUse);
      if (inUse.length < 2 && pick % 4 !== 0) return [];
      // Mostly the first ones, to which requests go.
      return pick % 3 === 0 ? inUse : inUse.slice(0, 1);
    });
    const route = names[pick % names.length];
    if (route) await putLeftRoute(route, toInstant(new Date()));
  }

  /** Returns to one of the routes that are left. */
  async return(pick: number): Promise<void> {
    const names = [...this.world.evidence.leftSince.keys()];
    const route = names[pick % names.length];
    if (route) await putLeftRoute(route, undefined);
  }

  /** Returns to all routes. Rejects when that could not be done. */
  async returnAll(): Promise<void> {
    const left = (await listModelSettings()).get('*')?.left ?? {};
    for (const route of Object.keys(left)) await putLeftRoute(route, undefined);
  }

  /** Records which models have no route in use any more, or have one again: the settings or the deployment have changed. */
  check(): void {
    const { evidence, scheduler } = this.world;
    const { leftSince, unusedUntil } = evidence;
    for (const [model, routes] of Object.entries(listModelRoutes())) {
      const isUnused = routes.every((route) => leftSince.has(routeNameOf(route)));
      if (isUnused) unusedUntil.set(model, Number.POSITIVE_INFINITY);
      else if (unusedUntil.get(model) === Number.POSITIVE_INFINITY) unusedUntil.set(model, scheduler.now);
    }
  }

  /** A request is accepted: a route of its model is in use. */
  judgeAccepted({ requestId, accepted }: Life): void {
    const { evidence, scheduler } = this.world;
    const routes = (listModelRoutes()[String(accepted.model)] ?? []).map(routeNameOf);
    const since = Math.max(...routes.map((name) => evidence.leftSince.get(name) ?? Number.POSITIVE_INFINITY));
    const forMs = scheduler.now - Math.max(since, evidence.deployedAt);
    if (routes.length > 0 && forMs > CREATION_MS)
      this.report(`[left route] ${requestId} was accepted, and all routes of ${accepted.model} are left`);
  }

  private see({ left = {} }: Item): void {
    const { evidence, scheduler } = this.world;
    const { leftSince } = evidence;
    const names = new Set(Object.keys(left as object));
    for (const name of leftSince.keys()) if (!names.has(name)) leftSince.delete(name);
    for (const name of names) leftSince.set(name, leftSince.get(name) ?? scheduler.now);
    evidence.leftAt = scheduler.now;
    this.check();
  }

  private judgeClaim(attempt: Item): void {
    const { evidence, scheduler } = this.world;
    const route = routeNameOf(attempt as Item & { provider: string; upstreamModel: string });
    const since = evidence.leftSince.get(route);
    if (since === undefined || evidence.claims.of(String(attempt.requestId)) > 1) return;
    const forMs = scheduler.now - Math.max(since, evidence.deployedAt);
    const excusedMs = this.world.lateness.excusedMs(scheduler.now - forMs, scheduler.now);
    if (forMs > KNOWN_MS + excusedMs)
      this.report(`[left route] ${attempt.requestId} is called at ${route}, which is left`);
  }
}
