import { describe, expect, test } from '@jest/globals';
import { accepted, settled } from './support/client.ts';
import { endedExecution } from './support/executions.ts';
import { refusedCalls } from './support/permissions.ts';
import { executionsNamed } from './support/stopping.ts';
import { storedRequests } from './support/stored.ts';
import { useCaller } from './support/use-caller.ts';

const caller = useCaller();

/** Marks the prompt and the reference, so they can be found in any history. */
const MARK = `mark${Math.random()}`;
const REFERENCE = `https://example.com/${MARK}.png`;
const BEGUN = ['Dispatch request', 'Where does the request stand?'];
const FAILED = ['Fail request', 'Has the request failed?', 'Request failed and refunded'];

describe('The execution of a request', () => {
  test.each([
    [
      'answered by the provider at once',
      { model: 'xZI1.0Pro', size: '512x512', prompt: MARK },
      'succeeded',
      [...BEGUN, 'Store outputs', 'Settle request'],
    ],
    [
      'accepted as a task',
      { model: 'xQI3Pro', size: '512x512', prompt: MARK, references: [REFERENCE] },
      'succeeded',
      [...BEGUN, 'Wait for provider', 'Where does the request stand?', 'Store outputs', 'Settle request'],
    ],
    [
      'refused by the provider',
      { model: 'xSD4.5', prompt: `${MARK} [fail=content_policy]`, references: [REFERENCE] },
      'failed',
      [...BEGUN, ...FAILED],
    ],
    [
      'whose outputs cannot be stored',
      { model: 'xZI1.0Pro', prompt: `${MARK} [broken=all]` },
      'failed',
      [...BEGUN, 'Store outputs', 'Settle request', ...FAILED],
    ],
  ])(
    '%s enters no state too many, contains no prompt, email or URL, and leaves nothing that waits',
    async (_what, body, ending, states) => {
      const { requestId } = await accepted(caller, body);
      const { status, images: [image] = [] } = await settled(caller, requestId);
      const execution = await endedExecution(caller.service, requestId);

      expect(status).toBe(ending);
      expect(execution).toMatchObject({ status: ending === 'failed' ? 'FAILED' : 'SUCCEEDED', states });
      for (const content of [MARK, 'ada@example.com', 'http:', 'https:'])
        expect(execution.text).not.toContain(content);
      // A succeeded request leaves its files to expire. A failed one is closed by the reconciler: storing may have left files.
      const stored = (await storedRequests(caller.service)).find((each) => each.requestId === requestId);
      const due = { list: stored?.GSI1PK?.split('#')[1], dueAt: stored?.GSI1SK };
      if (ending === 'succeeded') expect(due).toEqual({ list: 'EXPIRE', dueAt: image?.expiresAt });
      else expect(due.list).not.toBe('EXPIRE');
      expect(await executionsNamed(caller.service, 'expiry', requestId)).toEqual([]);
    },
  );
});

test('Every AWS call of the service was allowed by its role', async () => {
  const calls = ['/v1/models', '/v1/balance', '/v1/balance/history'];
  expect((await Promise.all(calls.map((path) => caller.get(path)))).map(({ status }) => status)).toEqual(
    Array(calls.length).fill(200),
  );

  // Global teardown checks again after the whole suite.
  expect(await refusedCalls(caller.service.dataDir)).toEqual([]);
});
