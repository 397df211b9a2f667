import { isDeepStrictEqual } from 'node:util';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { hostDigest } from '../../../../core/concurrency/in-flight.ts';
import {
  insertFirstAttemptWrite,
  listWebhookAttempts,
} from '../../../../core/deliveries/webhook-attempts.ts';
import { requestKey, webhookAttemptKey, webhookHostKey } from '../../../../core/table/keys.ts';
import type { Clock } from '../../../../core/time.ts';
import { makeFirstAttempt } from '../../../../core/webhooks/deliver-webhook.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import { ACCOUNT_ID, putRequest, REQUEST_ID } from '../../builders/entities.ts';
import { receiver } from '../../builders/webhook-world.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { answering } from '../../servers/webhook-receiver.ts';
import { anEndedRequest, deliver, finishedAt } from './a-delivery.ts';

describe('the first attempt', () => {
  const MACHINE = 'arn:aws:states:us-east-1:111122223333:stateMachine:webhook-delivery';
  const due = () => memory.get(webhookAttemptKey(REQUEST_ID, REQUEST_ID, 1))?.GSI1SK;
  const first = (clock: Clock = new StoppedClock()) =>
    makeFirstAttempt(REQUEST_ID, MACHINE, clock, () => 0.5);
  const started = () => executions.started.map(({ name, input }) => ({ name, input }));
  const execution = (result: object) => ({
    name: REQUEST_ID,
    input: {
      ...{ requestId: REQUEST_ID, model: 'xQI3Pro', accountId: ACCOUNT_ID },
      step: { result: { next: 'wait', ...result } },
    },
  });
  beforeEach(() => {
    putRequest(memory, anEndedRequest());
    const { Put } = insertFirstAttemptWrite(REQUEST_ID, finishedAt);
    memory.put(webhookAttemptKey(REQUEST_ID, REQUEST_ID, 1), Put?.Item ?? {});
  });

  test.each([204, 410])('answered %i needs no execution, and leaves the due list', async (status) => {
    receiver.respond = answering(status);
    expect(due()).toBe(atSeconds(30).toISOString());

    await first();

    expect(started()).toEqual([]);
    expect(due()).toBeUndefined();
    expect(await listWebhookAttempts(REQUEST_ID)).toMatchObject([{ number: 1, status }]);
  });

  test.each([
    ['is accepted', 204, 2],
    ['fails', 503, 3],
  ])(
    'that %s is written when it is claimed, when it has its result, and to leave the list',
    async (_, status, writes) => {
      receiver.respond = answering(status);

      await first();

      const key = webhookAttemptKey(REQUEST_ID, REQUEST_ID, 1);
      const updates = memory.client.commandCalls(UpdateCommand).map(({ args: [{ input }] }) => input.Key);
      expect(updates.filter((updated) => isDeepStrictEqual(updated, key))).toHaveLength(writes);
      expect(due()).toBeUndefined();
    },
  );

  test('that failed starts the execution that makes the second, and leaves the due list', async () => {
    receiver.respond = answering(503);

    await first();

    expect(started()).toEqual([execution({ waitSeconds: 5, attemptsMade: 1 })]);
    expect(due()).toBeUndefined();
  });

  test('that is put off starts the execution that makes it', async () => {
    memory.put(webhookHostKey(ACCOUNT_ID, hostDigest(receiver.url)), {
      ...{ hangs: 1, notBefore: atSeconds(30).toISOString() },
      ttl: NOW.getTime() / 1000 + 86_400,
    });

    await first();

    expect(started()).toEqual([execution({ waitSeconds: expect.any(Number), attemptsMade: 0 })]);
    expect(due()).toBeUndefined();
    receiver.respond = answering(204);
    expect(await deliver(undefined, { clock: new StoppedClock(atSeconds(40)) })).toEqual({ next: 'stop' });
  });

  test('that is put off until its delivery is given up leaves the due list, without an execution', async () => {
    const days = 14;
    memory.put(webhookHostKey(ACCOUNT_ID, hostDigest(receiver.url)), {
      ...{ hangs: 1, notBefore: atSeconds(days * 86_400 + 30).toISOString() },
      ttl: NOW.getTime() / 1000 + 2 * days * 86_400,
    });

    await first(new StoppedClock(atSeconds(days * 86_400)));

    expect(receiver.connections).toBe(0);
    expect(started()).toEqual([]);
    expect(due()).toBeUndefined();
  });

  test('is made once, and starts one execution, however often it is asked for', async () => {
    receiver.respond = answering(503);

    await Promise.all([first(), first()]);
    await first(new StoppedClock(atSeconds(90)));

    expect(receiver.received).toHaveLength(1);
    expect(started()).toHaveLength(1);
    expect(due()).toBeUndefined();
  });

  test('stays on the due list while its function may be at work, and until the execution has started', async () => {
    receiver.respond = answering(503);
    executions.refuseStarts(new Error('throttled'));

    await expect(first()).rejects.toThrow('throttled');

    expect(due()).toBe(atSeconds(30).toISOString());
    executions.reset();
    await first();
    expect(started()).toHaveLength(1);
    expect(receiver.received).toHaveLength(1);
  });

  test('of a request that was deleted is not made', async () => {
    memory.remove(requestKey(REQUEST_ID));

    await first();

    expect(receiver.connections).toBe(0);
    expect(due()).toBeUndefined();
  });
});
