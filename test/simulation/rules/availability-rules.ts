import type { ModelRoutes } from '../../../core/provider-calls/model-routes.ts';
import { listModelRoutes } from '../../../core/provider-calls/model-routes.ts';
import { makerOf, routeNameOf } from '../../../core/provider-names.ts';
import type { CreationCall } from '../evidence/evidence.ts';
import type { Life } from '../evidence/witness.ts';
import { isProvider } from '../world/engine/outages.ts';
import { Part } from '../world/part.ts';
import type { World } from '../world/world.ts';
import { mayBeTaken } from './failover-rules.ts';
import { unknownClaims } from './liveness-rules.ts';

/** How long after its acceptance a request is taken by the other route: two minutes at a busy one, and a try. */
const TAKEN_MS = 150_000;
/** The share of these requests that the other route may take later than that, or never. */
const MAY_FAIL = 0.01;
/** How long functions go on with settings that say which routes are left: 5 s, and the time from their read to a call. */
const SETTINGS_MS = 15_000;
/** How long functions go on with a key that was replaced. */
const KEY_MS = 1_210_000;

/**
 * Checks that a route that is out of order, turns everything away or was switched off by hand fails no request of a
 * model with a second route. At least 99 % of the requests that the other route takes are taken there within two and
 * a half minutes, whatever the first route's provider says or asks for. Requests of which the first provider may have
 * taken a call, as far as the service knows, stay there and are not counted.
 */
export class Availability extends Part {
  /** The routes of each request's model when it was accepted. */
  private readonly routes = new Map<string, ModelRoutes[string]>();
  private readonly failed = new Map<string, string>();
  private readonly judged = new Set<string>();
  /** The requests that may not wait for their turn as long as a route may take to be left. */
  private readonly shortlyQueued = new Set<string>();

  constructor(world: World) {
    super(world);
  }

  /** A request is accepted: it is checked when it must have been taken. */
  await(life: Life): void {
    const routes = listModelRoutes()[String(life.accepted.model)] ?? [];
    this.routes.set(life.requestId, routes);
    if (routes.length < 2) return;
    if (Number(process.env.QUEUE_DEADLINE_SECONDS) * 1000 < TAKEN_MS) this.shortlyQueued.add(life.requestId);
    this.world.scheduler.after(TAKEN_MS, () => this.judge(life));
  }

  /** Too many of the requests that another route takes were not taken there in time. */
  problems(): string[] {
    if (this.failed.size <= MAY_FAIL * this.judged.size) return [];
    const of = `${this.failed.size} of ${this.judged.size}`;
    const examples = [...this.failed.values()].slice(0, 3);
    return [
      `[availability] ${of} requests were not taken by their other route in time: ${examples.join('; ')}`,
    ];
  }

  private judge(life: Life): void {
    const { requestId, acceptedAt } = life;
    const { evidence, lateness, scheduler } = this.world;
    if (!this.isDue(life)) return;
    const calls = evidence.callsOf(requestId);
    const excusedMs = lateness.excusedMs(acceptedAt, scheduler.now);
    const lateMs = scheduler.now - acceptedAt - TAKEN_MS;
    const isTaken =
      calls.some(mayBeTaken) ||
      calls.some(({ status }) => status === 400) ||
      unknownClaims(requestId, evidence) > 0 ||
      // Its answer was not written down: nobody knows that it was a refusal.
      calls.some(({ maker }) => maker?.dead === true);
    if (!isTaken && lateMs < excusedMs) {
      scheduler.after(excusedMs - lateMs + 1, () => this.judge(life));
      return;
    }
    // Its time in the queue may have run out: while no loop ran, or because it is short.
    if (calls.length === 0 && (excusedMs > 0 || this.shortlyQueued.has(requestId))) return;
    this.judged.add(requestId);
    if (isTaken) return;
    this.failed.set(requestId, `${requestId}, after ${scheduler.now - acceptedAt} ms, ${endsOf(calls)}`);
  }

  /** Whether nothing but one of its routes stands in the way of a request. */
  private isDue(life: Life): boolean {
    const { requestId, acceptedAt, accepted, removedAt } = life;
    const { evidence, outages, scheduler } = this.world;
    const routes = this.routes.get(requestId) ?? [];
    const isLimited = ({ maxRunning, requestsPerSecond }: ModelRoutes[string][number]): boolean =>
      maxRunning != null || requestsPerSecond != null;
    const broken = outages
      .all()
      .filter(({ service, from, to }) => isProvider(service) && from < scheduler.now && to > acceptedAt);
    const services = new Set<string>(broken.map(({ service }) => service));
    const isLeft = (route: ModelRoutes[string][number]): boolean =>
      evidence.leftSince.has(routeNameOf(route));
    const others = routes.filter((route) => !services.has(makerOf(route.provider)) && !isLeft(route));
    return (
      services.size <= 1 &&
      (services.size === 1 || routes.some(isLeft)) &&
      others.length === 1 &&
      !others.some(isLimited) &&
      removedAt === undefined &&
      Math.max(evidence.deployedAt, evidence.leftAt + SETTINGS_MS) < acceptedAt &&
      !evidence.interventions.has(requestId) &&
      evidence.rotatedAt + KEY_MS < acceptedAt &&
      String(accepted.prompt).includes('[busy]') === false &&
      listModelRoutes()[String(accepted.model)] === routes
    );
  }
}

const endsOf = (calls: readonly CreationCall[]): string =>
  calls.map(({ provider, status, end }) => `${provider} ${status ?? end}`).join(', ') || 'not called';
