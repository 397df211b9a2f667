import { parseBalanceEventId } from '../../../core/ids.ts';
import { requestPartition } from '../../../core/table/keys.ts';
import type { Simulation } from '../runs/simulation.ts';
import { RECONCILER } from '../world/aws/lambda.ts';
import { falCallback } from '../world/upstream/fal.ts';
import type { World } from '../world/world.ts';
import { type Action, TASKS } from './actions.ts';

/** The functions without which a request waits for its provider, and nobody hears of its end. */
const WAITING_FUNCTIONS = ['workflow/await-provider', 'workflow/query-provider'];
/** For how long EventBridge may start nothing. */
const LATE_MINUTES_MS = 120_000;
/** `img_` and a ULID. */
const ID_LENGTH = 30;

/** Does what goes wrong outside the service: at providers, machines, the network or AWS. Any other action does nothing. */
export const disturb = (simulation: Simulation, action: Action): void => {
  const { world } = simulation;
  switch (action.do) {
    case 'callback':
    case 'forged-callback': {
      const { callbackUrls } = world.providers;
      const url = callbackUrls[action.pick % callbackUrls.length];
      if (!url) return;
      const isGenuine = action.do === 'callback';
      const content = url.includes('/fal/') ? () => falCallback('task-0', world.scheduler.now) : undefined;
      world.callbacks.send({ url: isGenuine ? url : `${url}0`, content, isGenuine });
      return;
    }
    case 'abort': {
      const running = world.stepFunctions.running();
      const execution = running[action.pick % running.length];
      if (!execution) return;
      world.lateness.add('abort', world.scheduler.now);
      if (execution.machine === 'webhook-delivery')
        simulation.deliveriesAborted.add(
          parseBalanceEventId(execution.name)?.eventId ?? execution.name.slice(0, ID_LENGTH),
        );
      else if (execution.machine === 'generation') world.evidence.interventions.add(execution.name);
      world.stepFunctions.abort(execution);
      return;
    }
    case 'abort-in': {
      const state = TASKS[action.pick % TASKS.length] ?? '';
      world.stepFunctions.onNextEntry('generation', state, (execution) =>
        world.scheduler.after(action.afterMs, () => {
          world.evidence.interventions.add(execution.name);
          world.lateness.add('abort', world.scheduler.now);
          world.stepFunctions.abort(execution);
          if (action.kills) world.lambda.killAll({ requestId: execution.name });
        }),
      );
      return;
    }
    case 'crash':
      crash(world, action.afterMs);
      return;
    case 'reconciler':
      disturbReconciler(simulation, action);
      return;
    case 'throttle-function': {
      const name = WAITING_FUNCTIONS[action.pick % WAITING_FUNCTIONS.length] ?? '';
      const untilMs = world.scheduler.now + action.lengthMs;
      world.lambda.throttledUntil.set(name, untilMs);
      world.lateness.throttle(world.scheduler.now, untilMs);
      return;
    }
    case 'clock':
      world.lateness.add('clock', world.scheduler.now);
      world.hasBentTime = true;
      world.lambda.processes.clock = {
        offsetMs: action.offsetMs,
        untilMs: world.scheduler.now + action.lengthMs,
      };
      // Machines that are there already keep their time.
      world.lambda.processes.replaceAll();
      return;
    case 'fault':
      world.faults.add(action);
      return;
    case 'outage': {
      const { service, mode, lengthMs, pick } = action;
      const lives = simulation.witness.all();
      // Of the table, the items of one of the newest requests.
      const partition = requestPartition(lives.at(-1 - (pick % Math.min(3, lives.length)))?.requestId ?? '');
      world.log(
        () => `  ${service} ${mode} for ${lengthMs} ms${service === 'table' ? `: ${partition}` : ''}`,
      );
      world.outages.add({ service, mode, lengthMs, ...(service === 'table' && { partition }) });
      return;
    }
    case 'redeliver': {
      const { history } = world.lambda;
      const atWork = history.filter(({ isOver }) => !isOver);
      const among = action.pick % 2 === 0 && atWork.length > 0 ? atWork : history;
      const past = among[action.pick % among.length];
      if (past) world.lambda.redeliver(past.fn, past.payload, 0);
      return;
    }
  }
};

/** The reconciler's runs die, two of them are under way at once, or EventBridge starts none for minutes. */
const disturbReconciler = (
  { world, schedule }: Simulation,
  { how, afterMs }: Extract<Action, { do: 'reconciler' }>,
): void => {
  world.lateness.add('reconciler', world.scheduler.now);
  if (how === 'dies') crash(world, afterMs, { functionName: RECONCILER });
  if (how === 'is-late') schedule.stayAway(LATE_MINUTES_MS + afterMs);
  if (how !== 'runs-twice') return;
  void schedule.runNow();
  world.scheduler.after(afterMs, () => void schedule.runNow());
};

/** The processes that are at work then die, all or some. */
const crash = (world: World, afterMs: number, which = {}): void => {
  world.scheduler.after(afterMs, () => {
    world.disturb();
    world.lateness.add('crash', world.scheduler.now);
    world.lambda.killAll(which);
  });
};
