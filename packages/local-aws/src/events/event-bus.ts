import { randomUUID } from 'node:crypto';

import { messageOf } from '../aws/errors.ts';
import type { AsyncInvocations } from '../functions/async-invocations.ts';
import { ACCOUNT_ID, REGION } from '../template/attributes.ts';
import { Timers } from '../timers.ts';
import type { AwsEvent, ExecutionTarget, RuleSpec } from '../types.ts';
import { matchesEvent } from './pattern.ts';

/** The default event bus and its rules. */
export interface EventBus {
  /** Sends an event to the targets of every matching rule. Returns at once; never throws. */
  publish(event: AwsEvent): void;
  /** Starts the schedules. A rule with a rate first fires after 100 ms. */
  start(): void;
  /** Stops schedules. */
  close(): void;
}

/** What the bus works with. */
export interface EventBusOptions {
  rules: RuleSpec[];
  /** Invokes the functions that are targets. */
  invocations: Pick<AsyncInvocations, 'add'>;
  /** Starts an execution of a target. Throws the service's error. */
  startExecution?: (target: ExecutionTarget, input: unknown) => void;
}

const FIRST_RATE_MILLISECONDS = 100;

const scheduledEvent = ({ arn }: RuleSpec): AwsEvent => ({
  version: '0',
  id: randomUUID(),
  'detail-type': 'Scheduled Event',
  source: 'aws.events',
  account: ACCOUNT_ID,
  time: `${new Date().toISOString().slice(0, 19)}Z`,
  region: REGION,
  resources: [arn],
  detail: {},
});

/** A bus with the rules of a stack. Targets are functions, invoked asynchronously, and state machines. */
export const createEventBus = ({ rules, invocations, startExecution }: EventBusOptions): EventBus => {
  const timers = new Timers();

  const fire = (rule: RuleSpec, event: AwsEvent) => {
    if (timers.isClosed) return;
    for (const target of rule.targets) {
      const payload = 'input' in target ? target.input : event;
      invocations.add(target, payload, `rule ${rule.name}`);
    }
    for (const target of rule.executions ?? []) {
      try {
        startExecution?.(target, 'input' in target ? target.input : event);
      } catch (error) {
        const reason = `did not start, the event is lost: ${messageOf(error)}`;
        console.error(`[events] rule ${rule.name}: ${target.stateMachineArn} ${reason}`);
      }
    }
  };

  const startRate = (rule: RuleSpec, everyMilliseconds: number, waitMilliseconds: number) =>
    timers.after(waitMilliseconds, () => {
      fire(rule, scheduledEvent(rule));
      // Runs missed while the machine slept are not made up for.
      startRate(rule, everyMilliseconds, everyMilliseconds);
    });

  return {
    publish(event) {
      for (const rule of rules) {
        if (rule.eventPattern && matchesEvent(rule.eventPattern, event)) fire(rule, event);
      }
    },
    start() {
      for (const rule of rules) {
        if (rule.schedule) startRate(rule, rule.schedule.everyMilliseconds, FIRST_RATE_MILLISECONDS);
      }
    },
    close: () => timers.close(),
  };
};
