import { DescribeExecutionCommand, paginateGetExecutionHistory } from '@aws-sdk/client-sfn';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { withStepFunctions } from './support/aws.ts';
import { type AnyRecord, accepted, eventually, settled } from './support/client.ts';
import { refusedCalls } from './support/permissions.ts';
import { executionsNamed } from './support/stopping.ts';
import { storedRequests } from './support/stored.ts';
import { useCaller } from './support/use-caller.ts';

const caller = useCaller();

/** An execution's status, input, entered states and whole history as text. */
const executionOf = (requestId: string) =>
  withStepFunctions(caller.service, async (client) => {
    const stateMachineArn = caller.service.stateMachines.generation;
    const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${requestId}`;
    const { name, status, input, output } = await client.send(new DescribeExecutionCommand({ executionArn }));
    const events = [];
    for await (const page of paginateGetExecutionHistory({ client }, { executionArn })) {
      events.push(...(page.events ?? []));
    }
    const states = events.flatMap(({ stateEnteredEventDetails }) => stateEnteredEventDetails?.name ?? []);
    return { name, status, input, states, text: JSON.stringify([input, output, events]) };
  });

/** Marks the prompt and the reference, so they can be found in any history. */
const MARK = `mark${Math.random()}`;
const REFERENCE = `https://example.com/${MARK}.png`;

describe.each([
  [
    'answered by the provider at once',
    { model: 'xZI1.0Pro', size: '512x512', prompt: MARK },
    'succeeded',
    ['Dispatch request', 'Choose next step', 'Store outputs', 'Settle request'],
  ],
  [
    'accepted as a task',
    { model: 'xQI3Pro', size: '512x512', prompt: MARK, references: [REFERENCE] },
    'succeeded',
    [
      'Dispatch request',
      'Choose next step',
      'Wait for provider',
      'Choose next step',
      'Store outputs',
      'Settle request',
    ],
  ],
  [
    'refused by the provider',
    { model: 'xSD4.5', prompt: `${MARK} [fail=content_policy]`, references: [REFERENCE] },
    'failed',
    ['Dispatch request', 'Choose next step', 'Fail request'],
  ],
  [
    'whose outputs cannot be stored',
    { model: 'xZI1.0Pro', prompt: `${MARK} [broken=all]` },
    'failed',
    ['Dispatch request', 'Choose next step', 'Store outputs', 'Settle request'],
  ],
])('The execution of a request %s', (_what, body, ending, states) => {
  let record: AnyRecord;
  let execution: Awaited<ReturnType<typeof executionOf>>;
  beforeAll(async () => {
    const { requestId } = await accepted(caller, body);
    record = await settled(caller, requestId);
    // The record is terminal shortly before its execution ends.
    execution = await eventually(
      () => executionOf(requestId),
      ({ status }) => status !== 'RUNNING',
    );
  });

  test(`has the request's id as its name and succeeds: the request has ${ending}`, () => {
    expect(record.status).toBe(ending);
    expect(execution).toMatchObject({ name: record.requestId, status: 'SUCCEEDED' });
  });

  test(`takes ${states.length} state transitions`, () => {
    expect(execution.states).toEqual(states);
  });

  test('contains no prompt, email or URL', () => {
    expect(JSON.parse(execution.input ?? '')).toEqual({ requestId: record.requestId });
    expect(execution.text).not.toContain(MARK);
    expect(execution.text).not.toContain('ada@example.com');
    expect(execution.text).not.toMatch(/https?:/);
  });

  test(`leaves ${ending === 'succeeded' ? 'its files to expire, and no execution that waits for that' : 'nothing to expire, as it has no files'}`, async () => {
    const { requestId, images: [image] = [] } = record;
    const place = async () => {
      const stored = (await storedRequests(caller.service)).find((each) => each.requestId === requestId);
      return { list: stored?.GSI1PK?.split('#')[1], dueAt: stored?.GSI1SK };
    };

    // A failed request is closed by the reconciler: storing may have left files.
    if (ending === 'succeeded') expect(await place()).toEqual({ list: 'EXPIRE', dueAt: image?.expiresAt });
    else expect((await place()).list).not.toBe('EXPIRE');
    expect(await executionsNamed(caller.service, 'expiry', requestId)).toEqual([]);
  });
});

test('Every AWS call of the service was allowed by its role', async () => {
  const calls = ['/v1/models', '/v1/balance', '/v1/balance/history'];
  expect((await Promise.all(calls.map((path) => caller.get(path)))).map(({ status }) => status)).toEqual(
    Array(calls.length).fill(200),
  );

  // Global teardown checks again after the whole suite.
  expect(await refusedCalls(caller.service.dataDir)).toEqual([]);
});
