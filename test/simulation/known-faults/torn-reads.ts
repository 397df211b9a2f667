import type { Deployment } from '../world/aws/step-functions.ts';
import { type ClientCall, type Intercept, interceptCalls, isAboutQueue } from './client-calls.ts';
import { inService, type Service } from './service.ts';

/** A request that began to wait while answers to the loop were on their way. */
export interface Torn {
  /**
   * The command of the loop in progress when the request was created, and the command in progress when the request
   * continued.
   */
  commands: [string, string];
  /** Which of its own calls the request made only during the second of them. */
  heldAt: number;
  /** From the last of its writes to the queue, or from its creation, to its call at the provider, in milliseconds. */
  calledAfterMs: number;
}

/** The function that begins a wait reads the request, writes the queue entry, its account, the route limit and the request, and reads whether the loop is alive. */
const HELD_AT = [2, 3, 4, 6];
/** A run of the loop has ended by then when nothing is open. */
const LOOP_ENDS_MS = 15_000;
/** The last permit is given back early in a run of the loop. */
const PHASE_MS = 5_000;

/**
 * Creates a request during a call of the loop, and lets the request's wait continue during the same or a later call.
 * Takes each pair of the calls between the return of the last permit and the end of the idle loop, in a world of its
 * own.
 */
export const measureTornReads = async (deployment: Deployment): Promise<Torn[]> => {
  const setting = { limits: { maxRunning: 1 }, phaseMs: PHASE_MS };
  const measured: Torn[] = [];
  for (const heldAt of HELD_AT) {
    let first = 1;
    let second = 1;
    while (true) {
      const torn = await inService(deployment, setting, (service) => tearAt(service, first, second, heldAt));
      if (torn) measured.push(torn);
      else if (second === first) break;
      if (torn) second++;
      else {
        first++;
        second = first;
      }
    }
  }
  return measured;
};

/** Where a call stops once it has come there, until it may go on. */
class Stop {
  isMet = false;
  private readonly way = Promise.withResolvers<void>();

  async meet(): Promise<void> {
    this.isMet = true;
    await this.way.promise;
  }

  goOn(): void {
    this.way.resolve();
  }
}

/** Undefined when the loop ended, or the request was called, before the second of these calls. */
const tearAt = async (
  service: Service,
  first: number,
  second: number,
  heldAt: number,
): Promise<Torn | undefined> => {
  const { world, createVideo, until, calledAt, onFree } = service;
  const { scheduler, lambda } = world;
  const running = await createVideo('works');
  await until(() => calledAt(running) < scheduler.now);
  const waiting = await createVideo('instant');
  await until(() => calledAt(waiting) < scheduler.now);

  const commands: string[] = [];
  const stops = new Map([first, second].map((nth) => [nth, new Stop()]));
  let freeAt = Number.POSITIVE_INFINITY;
  const loop: Intercept = async (call, send) => {
    if (call.invocation.functionName !== 'events/reconcile' || !isOfTable(call)) return send();
    const nth = commands.push(call.command);
    const answer = await send();
    await stops.get(nth)?.meet();
    return answer;
  };
  const own = new Stop();
  let calls = 0;
  let wroteAt = 0;
  const wait: Intercept = async (call, send) => {
    calls++;
    if (calls === heldAt) await own.meet();
    const answer = await send();
    if (isAboutQueue(call)) wroteAt = scheduler.now;
    return answer;
  };
  onFree(() => {
    freeAt = scheduler.now;
    interceptCalls((call, send) =>
      (call.invocation.functionName === 'workflow/await-capacity' ? wait : loop)(call, send),
    );
  });

  const hasEnded = (): boolean => scheduler.now > freeAt + LOOP_ENDS_MS;
  const [one, two] = [stops.get(first) as Stop, stops.get(second) as Stop];
  await until(() => one.isMet || hasEnded());
  if (!one.isMet) return undefined;
  const createdAt = scheduler.now;
  const next = await createVideo('instant');
  const isCalled = (): boolean => calledAt(next) <= scheduler.now;
  const hasBegun = (): boolean => calls > 0 && lambda.countAtWork('await-capacity', next) === 0;
  await until(() => own.isMet || hasBegun() || isCalled());
  if (first < second) one.goOn();
  await until(() => two.isMet || isCalled() || hasEnded());
  if (!two.isMet) return undefined;
  own.goOn();
  await until(() => hasBegun() || isCalled());
  two.goOn();
  const at = await service.calledBy(next);
  return {
    commands: [commands[first - 1] ?? '', commands[second - 1] ?? ''],
    ...{ heldAt, calledAfterMs: at - Math.max(createdAt, wroteAt) },
  };
};

/** Not of an index: those are behind anyway, and no request in the queue is found by one. */
const isOfTable = ({ input }: ClientCall): boolean => input.IndexName === undefined;
