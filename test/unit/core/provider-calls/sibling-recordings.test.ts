import { expect, test } from '@jest/globals';
import { recordDeadCalls } from '../../../../core/provider-calls/dead-calls.ts';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import { DueWork } from '../../../../core/reconciler/due-work.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { queryAttempts } from '../../../../core/waiting/query-tasks.ts';
import { at, clockAt } from '../../builders/clocks.ts';
import { anAttempt, aVideoRequest, VIDEO_ID } from '../../builders/entities.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { accepted, answering, WaitingRequest } from '../../builders/waiting-request.ts';
import { memory } from '../../fakes/fresh-table.ts';

const CALLS = [0, 1, 2];
const given = (attempt: Partial<ProviderAttempt>): ProviderAttempt[] => {
  const table = new WaitingRequest(memory).given();
  return CALLS.map((call) => {
    table.withAttempt({ ...attempt, call });
    return anAttempt({ requestId: VIDEO_ID, ...attempt, call });
  });
};
const stored = () => CALLS.map((call) => new WaitingRequest(memory).attempt(call));

/** The table refuses the first write at once, and takes the others a while later. */
const refuseFirst = (): void => {
  let calls = 0;
  memory.beforeCall = async () => {
    calls++;
    if (calls === 1) throw new Error('no table');
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  };
};

const query = {
  request: aVideoRequest(),
  providerRouteOf: leadingTo(answering(aDone('a'))),
  clock: clockAt(20),
  timeoutMs: 1000,
};

test.each<[string, Partial<ProviderAttempt>, (attempts: ProviderAttempt[]) => Promise<unknown>, object]>([
  [
    'suspicions',
    { aliveAt: at(-20) },
    (attempts) => recordDeadCalls(attempts, clockAt(0)),
    { suspectedAt: at(0) },
  ],
  [
    'dead calls',
    { aliveAt: at(-60), suspectedAt: at(-30) },
    (attempts) => recordDeadCalls(attempts, clockAt(0)),
    { outcome: { kind: 'lost' } },
  ],
  ['tasks', accepted(), (attempts) => queryAttempts(attempts, query), { outcome: aDone('a') }],
])(
  'one that cannot be written rejects once its siblings are written: %s',
  async (_, attempt, record, written) => {
    const attempts = given(attempt);
    refuseFirst();

    await expect(record(attempts)).rejects.toThrow('no table');

    const [first, ...others] = stored();
    expect(first).not.toMatchObject(written);
    expect(others).toMatchObject([written, written]);
  },
);

test('a next check that cannot be written rejects once those of the others are written', async () => {
  const ids = ['a', 'b', 'c'];
  const dueKey = { GSI1PK: 'DUE#CHECK#0', GSI1SK: at(1) };
  const work = new DueWork();
  work.add(
    ids.map((requestId) => {
      memory.put(requestKey(requestId), { ...aVideoRequest(), ...dueKey });
      return { list: 'CHECK', work: { kind: 'request', requestId }, key: requestKey(requestId), dueKey };
    }),
  );
  for (const kept of work.dueBy(Number.POSITIVE_INFINITY)) kept.nextMs = Date.parse(at(50));
  refuseFirst();

  await expect(work.writeBack()).rejects.toThrow('no table');

  expect(ids.map((id) => memory.get(requestKey(id))?.GSI1SK)).toEqual([at(1), at(50), at(50)]);
});
