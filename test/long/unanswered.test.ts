import { armFault, disarmFaults, faultsLeft } from '@generation-service/local-aws/faults';
import { expect, test } from '@jest/globals';
import { accepted, eventually, settled } from '../contract/support/client.ts';
import { endedExecution } from '../contract/support/executions.ts';
import { entriesOf } from '../contract/support/ledger.ts';
import { acceptedVideo, settledVideo } from '../contract/support/videos.ts';
import { useOwnRun } from './own-run.ts';

/** The four attempts of the table's client, and the first of the next run: the state machine has to retry too. */
const ATTEMPTS = 5;
const MANY = 1_000;

const { service, caller } = useOwnRun({ context: { pollIntervalSeconds: 1 } });

/** The number of calls each armed fault has hit. */
const hits = async (): Promise<number[]> => (await faultsLeft(service)).map((left) => MANY - left);

test('A table that stops answering while a video is polled and an image is stored only delays both', async () => {
  const hang = { call: 'dynamodb:*', effect: 'hang', times: MANY } as const;
  await armFault(service, { ...hang, principal: '*ReconcilerReconcile*' });
  await armFault(service, { ...hang, principal: '*StoreOutputs*' });
  const [video, image] = await Promise.all([
    acceptedVideo(caller, { model: 'xW3.0s' }),
    accepted(caller, { size: '512x512' }),
  ]);

  // Not read before: a read would query the provider.
  await eventually(hits, (calls) => calls.every((count) => count >= ATTEMPTS));
  await disarmFaults(service);

  const execution = await endedExecution(service, video.requestId);
  expect(execution.status).toBe('SUCCEEDED');
  expect(execution.states).not.toContain('Query provider');
  expect(await settledVideo(caller, video.requestId)).toMatchObject({ status: 'succeeded' });
  expect(await settled(caller, image.requestId)).toMatchObject({ status: 'succeeded', cost: 1 });
  for (const { requestId } of [image, video]) {
    expect((await entriesOf(caller, requestId)).map(([kind]) => kind)).toEqual(['generation']);
  }
});
