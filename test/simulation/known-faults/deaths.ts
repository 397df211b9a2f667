import type { Deployment } from '../world/aws/step-functions.ts';
import { never } from '../world/engine/invocation.ts';
import { FILE_HOST } from '../world/upstream/http.ts';
import { type Intercept, interceptCalls, isAboutQueue } from './client-calls.ts';
import { inService, type Service } from './service.ts';

const PROMISED_MS = 5_000;
/** So that the loop dies early in its run. */
const PHASE_MS = 20_000;
/** Only a loop that never admits the requests makes more calls about them. */
const MOST_CALLS = 40;
const STORING_MS = 200_000;

/** A death of the loop at one of the calls with which it admits requests. */
export interface Death {
  when: 'before' | 'after';
  /** The name of the command. */
  command: string;
  /** How much later than promised the first waiting request was called, in milliseconds; negative: it was earlier. */
  lateMs: number;
  /** The same of the request after it. */
  nextLateMs: number;
}

/**
 * Kills the loop before or after each of its calls about the queue, from the return of the permit until both waiting requests are called.
 * Each death is in a world of its own. The file of the first request takes minutes to store.
 */
export const measureDeaths = async (deployment: Deployment): Promise<Death[]> => {
  const deaths: Death[] = [];
  for (const when of ['before', 'after'] as const) {
    let death: Death | undefined;
    let nth = 1;
    do {
      death = await inService(deployment, { limits: { maxRunning: 1 }, phaseMs: PHASE_MS }, (service) =>
        dieAt(service, nth, when),
      );
      if (death) deaths.push(death);
      nth++;
    } while (death && nth <= MOST_CALLS);
  }
  return deaths;
};

/** Undefined when both requests were called before the n-th call. */
const dieAt = async (service: Service, nth: number, when: Death['when']): Promise<Death | undefined> => {
  const { world, createVideo, until, calledAt, calledBy, doneAt, onFree } = service;
  const running = await createVideo('slow');
  await until(() => calledAt(running) < world.scheduler.now);
  const first = await createVideo('instant');
  const next = await createVideo('instant');
  storeSlowly(service, first);
  let died: { command: string; aliveAt: number } | undefined;
  let calls = 0;
  const die: Intercept = async (call, send) => {
    const { invocation, command } = call;
    const isOfLoop = invocation.functionName === 'events/reconcile' && isAboutQueue(call);
    if (!isOfLoop || ++calls !== nth) return send();
    if (when === 'after') await send();
    died = { command, aliveAt: service.nextRunAt() };
    invocation.kill('out of memory');
    return never();
  };
  onFree(() => interceptCalls(die));
  const firstAt = await calledBy(first);
  const nextAt = await calledBy(next);
  if (!died) return undefined;
  const { command, aliveAt } = died;
  const lateMs = (at: number, freeAt: number): number => at - Math.max(freeAt, aliveAt) - PROMISED_MS;
  return {
    ...{ when, command },
    lateMs: lateMs(firstAt, doneAt(running)),
    nextLateMs: lateMs(nextAt, Math.min(doneAt(first), nextAt)),
  };
};

/** The provider's files of a request take minutes to copy. */
const storeSlowly = ({ world }: Service, requestId: string): void => {
  world.http.sites.set(FILE_HOST, async (request) => {
    const made = world.evidence.callsOf(requestId).flatMap((call) => call.made ?? []);
    if (made.some(({ urls }) => urls.includes(request.url))) await world.scheduler.sleep(STORING_MS);
    return world.providers.answer(request);
  });
};
