import { dispatchRequest } from '../../../../core/dispatch/dispatch-request.ts';
import type { NextStep } from '../../../../core/executions/step-rules.ts';
import type {
  ProviderAnswer,
  ProviderPlan,
  ProviderRoute,
  RouteOrOrigin,
} from '../../../../core/provider-calls/providers.ts';
import { routeNameOf } from '../../../../core/provider-names.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { SecretUnreadableError } from '../../../../core/secrets.ts';
import { requestKey, routeLimitKey, routeStateKey } from '../../../../core/table/keys.ts';
import { NOW, StoppedClock } from '../../builders/clocks.ts';
import { anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { aProvider } from '../../builders/providers.ts';
import { ACCEPTED, ASSIGNED, given, memory } from './a-dispatch.ts';

export { ACCEPTED, memory };

/** The model of requests by default, and the names of its two routes. */
const MODEL = 'xQI3Pro';
export const FIRST = 'modelark/one';
export const SECOND = 'fal/two';

const ASSIGNED_TO_FIRST = { ...ASSIGNED, route: FIRST };
export const UNREACHED = { kind: 'busy', reason: 'not reached', obstacle: 'unreached' } as const;
export const THROTTLED = { kind: 'busy', reason: 'full', obstacle: 'throttled' } as const;
const FAILURE = { code: 'provider_error', message: 'no' } as const;
export const NO_ACCESS = { kind: 'failed', failure: FAILURE, taken: 'no', obstacle: 'access' } as const;
export const INVALID = { kind: 'failed', failure: FAILURE, taken: 'no' } as const;
export const BROKEN = { kind: 'failed', failure: FAILURE, taken: 'unknown' } as const;
export const LOST_ANSWER = { kind: 'lost', failure: FAILURE } as const;
export const CONTENT = {
  ...{ kind: 'failed', taken: 'no' },
  failure: { code: 'content_policy', message: 'no' },
} as const satisfies ProviderAnswer;

/** States are cached for a second, and missing keys for five minutes: each test has a quarter of an hour of its own. */
let quarter = 0;
const nextQuarter = (): Date => new Date(NOW.getTime() + ++quarter * 900_000);

let made = 0;

/** A model with two routes, each to a provider with answers of the test. */
export class TwoRoutes {
  readonly clock = new StoppedClock(nextQuarter());
  /** The routes called, in order. */
  readonly called: string[] = [];
  /** The answer of each route. */
  readonly answers: Record<string, ProviderAnswer> = { [FIRST]: ACCEPTED, [SECOND]: ACCEPTED };
  /** Providers without a key. */
  readonly keyless = new Set<string>();
  /** Routes that cannot be checked up, each with the error. */
  readonly errors: Record<string, Error> = {};
  /** The field that each route's model is not sent. */
  readonly untaken: Record<string, string> = {};
  /** How many calls a request takes at each route. */
  readonly calls: Record<string, number> = { [FIRST]: 1, [SECOND]: 1 };
  mode: ProviderPlan['mode'] = 'asynchronous';
  routes: readonly { provider: string; upstreamModel: string }[] = [
    { provider: 'modelark', upstreamModel: 'one' },
    { provider: 'fal', upstreamModel: 'two' },
  ];

  constructor() {
    this.given({});
  }

  /** Puts the request as it is then, created now. */
  given(request: Partial<ImageRequest>): void {
    given({ createdAt: this.clock.now().toISOString(), assignment: ASSIGNED_TO_FIRST, ...request });
  }

  private readonly routeOf = async (_: string, route?: RouteOrOrigin): Promise<ProviderRoute> => {
    const { provider, upstreamModel } = route ?? { provider: 'modelark', upstreamModel: 'one' };
    const name = `${provider}/${upstreamModel}`;
    if (this.errors[name]) throw this.errors[name];
    if (this.keyless.has(provider)) throw new SecretUnreadableError('It has no value.');
    const adapter = aProvider(this.mode, this.calls[name] ?? 1, async () => {
      this.called.push(name);
      return this.answers[name] ?? ACCEPTED;
    });
    const untaken = this.untaken[name];
    if (untaken !== undefined) adapter.plan.mockReturnValue({ mode: this.mode, calls: [], untaken });
    return { provider: { ...adapter, id: provider }, upstreamModel };
  };

  under<T>(run: () => T | Promise<T>): Promise<T> {
    return withEnvironment({ MODEL_ROUTES: JSON.stringify({ [MODEL]: this.routes }) }, run);
  }

  dispatch(requestId = REQUEST_ID): Promise<NextStep> {
    return this.under(() => dispatchRequest(requestId, this.routeOf, this.clock));
  }

  /** Dispatches so many new requests of an account, one after the other. */
  async burst(count: number, accountId = 'acc_1'): Promise<void> {
    for (let index = 0; index < count; index++) {
      const requestId = `img_${made++}`;
      const createdAt = this.clock.now().toISOString();
      const request = { requestId, accountId, createdAt, assignment: ASSIGNED_TO_FIRST };
      memory.put(requestKey(requestId), anImageRequest(request));
      const step = await this.dispatch(requestId);
      if (step.next === 'retry' && step.waitSeconds === 1) await this.dispatch(requestId);
    }
  }

  /** How often a route was called. */
  callsOf(route: string): number {
    return this.called.filter((name) => name === route).length;
  }

  /** Adds settings to a route. */
  configure(name: string, settings: object): void {
    this.routes = this.routes.map((route) =>
      routeNameOf(route) === name ? { ...route, ...settings } : route,
    );
  }

  /** Fills a route that takes one call at once. */
  fill(name: string): void {
    this.configure(name, { maxRunning: 1 });
    memory.put(routeLimitKey(name), { used: 1, 'permit#o': { accountId: 'o', weight: 1, takenMs: 1 } });
  }

  /** Pauses a route, until `seconds` from now. */
  pause(route: string, { forSeconds = 30, pauseReason = 'calls' } = {}): void {
    const pausedUntil = this.in(forSeconds);
    const pausedAt = this.in(Math.min(0, forSeconds) - 30);
    memory.put(routeStateKey(route), { pauseReason, pausedAt, pausedUntil, pauseSeconds: 30 });
  }

  state(route: string): Record<string, unknown> | undefined {
    return memory.get(routeStateKey(route));
  }

  /** An instant so many seconds from now. */
  in(seconds: number): string {
    return new Date(this.clock.now().getTime() + seconds * 1000).toISOString();
  }

  /** Dispatches the request again, a second later each time, while it is to be dispatched again at once. */
  async dispatchOn(): Promise<NextStep> {
    for (;;) {
      const step = await this.dispatch();
      if (step.next !== 'retry' || step.waitSeconds > 1) return step;
      this.clock.advance(1);
    }
  }
}
