import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { closeRequest } from '../../../../core/ending/close-request.ts';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { failed, failedBeforeStoring, givenUp, removeFilesOfFailed } from '../../../../core/ending/failed.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { keepStoring, recordOutputs } from '../../../../core/requests/requests.ts';
import { countName } from '../../../../core/route-pauses/pause-rules.ts';
import {
  dueListing,
  permitAttribute,
  providerAttemptKey,
  routeLimitKey,
  routeStateKey,
  webhookAttemptKey,
} from '../../../../core/table/keys.ts';
import { putWrite } from '../../../../core/table/table.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { anAttempt, aStoredOutput, REQUEST_ID, VIDEO_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { bucket } from '../../fakes/fresh-bucket.ts';
import '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';
import '../../fakes/fresh-first-attempts.ts';
import { clock, FAILURE, given, request } from './an-ending.ts';

describe('failing a request that has no files', () => {
  test.each<[string, Partial<ImageRequest>, object]>([
    ['no webhook', {}, {}],
    [
      'a webhook, whose first attempt is then due,',
      { webhookUrl: 'https://hooks.example.com/' },
      dueListing('CHECK', REQUEST_ID, atSeconds(60).toISOString()),
    ],
  ])('and %s takes it off the due lists in the transaction that ends it', async (_, overrides, expected) => {
    given(overrides);
    memory.afterTransaction = () => {
      throw new Error('the function died');
    };

    await expect(endRequest(REQUEST_ID, failedBeforeStoring(FAILURE), { clock })).rejects.toThrow(
      'the function died',
    );

    const { status, GSI1PK } = request() ?? {};
    expect({ status, GSI1PK }).toEqual({ status: 'failed' });
    const due = memory.get(webhookAttemptKey(REQUEST_ID, REQUEST_ID, 1));
    expect({ GSI1PK: due?.GSI1PK, GSI1SK: due?.GSI1SK }).toEqual(expected);
  });
});

describe('failing a request that has a permit', () => {
  const route = 'modelstudio/qwen-image';
  const assignment = { route, number: 1 };
  const routes = [
    { provider: 'modelstudio', upstreamModel: 'qwen-image', maxRunning: 1 },
    { provider: 'fal', upstreamModel: 'two' },
  ];
  const limited = { MODEL_ROUTES: JSON.stringify({ xQI3Pro: routes }) };
  const permit = { used: 1, [permitAttribute(REQUEST_ID)]: { takenMs: 1, weight: 1 } };
  const released = { ...routeLimitKey(route), used: 0 };
  const fail = () =>
    withEnvironment(limited, () => endRequest(REQUEST_ID, failedBeforeStoring(FAILURE), { clock }));

  test('counts its failed task once, and releases the permit', async () => {
    given({ assignment });
    const outcome = { kind: 'failed', failure: FAILURE } as const;
    memory.put(providerAttemptKey(REQUEST_ID, 0, 0), anAttempt({ taskId: 'task-1', outcome }));
    memory.put(routeLimitKey(route), permit);

    for (let run = 0; run < 2; run++) await fail();

    expect(memory.get(routeLimitKey(route))).toEqual(released);
    const name = countName('tasks', 'bad', request()?.accountId as string, clock.now());
    expect(memory.get(routeStateKey(route))).toMatchObject({ [name]: 1 });
    expect(request()).not.toHaveProperty('GSI1PK');
  });

  test.each<[string, Partial<ImageRequest>]>([
    ['at its route', { assignment }],
    ['at a route before', { assignment: { ...assignment, route: 'fal/two' }, formerRoutes: [route] }],
  ])('leaves it due while the permit %s cannot be released, and releases it then', async (_, where) => {
    given(where);
    memory.put(routeLimitKey(route), permit);
    memory.client.on(UpdateCommand, { Key: routeLimitKey(route) }, false).rejects(new Error('out of order'));
    await fail();
    expect(request()).toMatchObject({ status: 'failed', GSI1PK: expect.stringMatching(/^DUE#CHECK#/) });

    memory.client
      .on(UpdateCommand, { Key: routeLimitKey(route) }, false)
      .callsFake((input) => memory.update(input));
    await withEnvironment(limited, () => closeRequest(REQUEST_ID, removeFilesOfFailed, { clock }));

    expect(memory.get(routeLimitKey(route))).toEqual(released);
    expect(request()).not.toHaveProperty('GSI1PK');
  });
});

describe('failing a request that may have files', () => {
  const fail = (requestId = REQUEST_ID) => endRequest(requestId, failed(FAILURE), { clock });
  const filesOf = (requestId: string) => `outputs/${requestId}/`;
  const keys = () => [...bucket.objects.keys()];

  test('removes its files, recorded or not, and no other request’s', async () => {
    given({ images: 3, outputs: [aStoredOutput(0)] });
    const others = [`${filesOf(`${REQUEST_ID}0`)}0.png`, `${filesOf(VIDEO_ID)}0.mp4`];
    for (const key of [0, 1, 2].map((index) => `${filesOf(REQUEST_ID)}${index}.png`)) bucket.put(key);
    for (const key of others) bucket.put(key);

    await fail();

    expect(request()).toMatchObject({ status: 'failed', error: FAILURE, refundThousandths: 12_000 });
    expect(keys()).toEqual(others);
  });

  test('ends the request before it removes the files, so that no delivered file is missing', async () => {
    bucket.put(`${filesOf(REQUEST_ID)}0.png`);
    let status: unknown;
    bucket.client.on(ListObjectsV2Command).callsFake(async () => {
      status = request()?.status;
      return {};
    });

    await fail();

    expect(status).toBe('failed');
  });

  test('keeps the files of a request that has succeeded', async () => {
    given({ status: 'succeeded', outputs: [aStoredOutput(0)], expiresAt: atSeconds(99).toISOString() });
    bucket.put(`${filesOf(REQUEST_ID)}0.png`);

    await fail();

    expect(request()?.status).toBe('succeeded');
    expect(keys()).toHaveLength(1);
  });

  test('leaves it due while files may be left, and closes it once they are removed', async () => {
    bucket.put(`${filesOf(REQUEST_ID)}0.png`);
    bucket.client
      .on(ListObjectsV2Command)
      .rejectsOnce(new Error('no bucket'))
      .callsFake(async () => ({
        Contents: keys().map((Key) => ({ Key, Size: 1, LastModified: NOW })),
      }));

    await fail();
    expect(request()?.status).toBe('failed');
    expect(request()?.GSI1PK).toBeDefined();
    expect(keys()).toHaveLength(1);

    await closeRequest(REQUEST_ID, removeFilesOfFailed);
    expect(request()?.GSI1PK).toBeUndefined();
    expect(keys()).toEqual([]);
  });

  test('that is gone does nothing', async () => {
    memory.reset();
    bucket.put(`${filesOf(REQUEST_ID)}0.png`);

    await fail();

    expect(keys()).toHaveLength(1);
  });
});

describe('giving up a request that a run of the storing step still works for', () => {
  const outputs = [aStoredOutput(0)];

  test.each([
    ['records its outputs', () => recordOutputs(REQUEST_ID, outputs)],
    [
      'keeps what it has stored so far',
      () => keepStoring(REQUEST_ID, { storedSoFar: outputs, storingSince: clock.now().toISOString() }),
    ],
  ])('which %s meanwhile, delivers them', async (_, write) => {
    memory.beforeTransaction = (attempt) => attempt === 1 && write();

    await endRequest(REQUEST_ID, givenUp(FAILURE), { clock });

    expect(request()).toMatchObject({ status: 'succeeded', outputs });
  });

  test('and cannot record what is kept, ends in an error and changes nothing', async () => {
    given({ status: 'queued', storedSoFar: outputs });

    await expect(endRequest(REQUEST_ID, givenUp(FAILURE), { clock })).rejects.toThrow('is not ended');

    expect(request()).toMatchObject({ status: 'queued', storedSoFar: outputs });
  });

  test('while an operator fails it, fails it', async () => {
    memory.beforeTransaction = (attempt) => attempt === 1 && recordOutputs(REQUEST_ID, outputs);

    await endRequest(REQUEST_ID, failed(FAILURE), { clock, operatorNote: 'stuck' });

    expect(request()).toMatchObject({ status: 'failed', error: FAILURE });
  });
});

test('an operator’s note, and the writes beside it, are made by the failure that ends the request, and by no other', async () => {
  const audit = { PK: 'AUDIT', SK: 'AUDIT' };
  const fail = () =>
    endRequest(REQUEST_ID, failed(FAILURE), {
      clock,
      operatorNote: 'Asked for by mail.',
      extraWrites: [putWrite(audit)],
    });

  await fail();

  expect(request()).toMatchObject({ status: 'failed', operatorNote: 'Asked for by mail.' });
  expect(memory.get(audit)).toEqual(audit);
  memory.remove(audit);
  await fail();
  expect(memory.get(audit)).toBeUndefined();
});
