import { afterAll, beforeEach, expect, jest, test } from '@jest/globals';
import { logger, METRIC } from '../../../../core/observability.ts';
import { storeOutputs } from '../../../../core/storing/store-outputs.ts';
import { providerAttemptKey, requestKey } from '../../../../core/table/keys.ts';
import { aVideo } from '../../../../packages/media/test/videos.ts';
import { StoppedClock } from '../../builders/clocks.ts';
import { anAttempt, aVideoRequest, REQUEST_ID } from '../../builders/entities.ts';
import { file, ProducedOutputs } from '../../builders/produced-outputs.ts';
import { aDone } from '../../builders/providers.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

process.env.ALLOW_PRIVATE_TARGETS = 'true';
const produced = await new ProducedOutputs().start();
const { memory, server, png } = produced;
const warned = jest.spyOn(logger, 'warn');
beforeEach(() => {
  produced.reset();
  warned.mockReset();
});
afterAll(() => server.close());

const store = () => storeOutputs(REQUEST_ID, new StoppedClock());
const reported = () => warned.mock.calls.filter(([message]) => message === 'provider usage differs');
const usageOf = (call: number, path: string, usage: object): void => {
  const outcome = { ...aDone(`${server.url}${path}`), usage };
  memory.put(providerAttemptKey(REQUEST_ID, call, 0), anAttempt({ call, outcome }));
};

test('Each call with another usage than is billed is reported once, with both', async () => {
  const counted = metricsCounted();
  produced.serve({ '/a': file(png), '/b': file(png) });
  produced.given(['/a', '/b']);
  usageOf(0, '/a', { images: 1 });
  usageOf(1, '/b', { images: 3 });
  const { provider } = anAttempt();

  await store();
  await store();

  expect(reported()).toEqual([
    [
      'provider usage differs',
      { requestId: REQUEST_ID, provider, call: 1, direction: 'more', usage: { images: 3 } },
    ],
  ]);
  expect(counted().filter(([name]) => name === METRIC.providerUsageDiffers)).toEqual([
    [METRIC.providerUsageDiffers, { provider, direction: 'more' }],
  ]);
});

test('The seconds of a video that are billed are in its report', async () => {
  produced.serve({ '/a': file(await aVideo({ seconds: 1 })) });
  produced.given([]);
  const video = aVideoRequest({ requestId: REQUEST_ID, status: 'processing', billedSeconds: 9 });
  memory.put(requestKey(REQUEST_ID), video);
  usageOf(0, '/a', { outputSeconds: 3 });

  await store();

  expect(reported()).toMatchObject([
    [expect.anything(), { direction: 'less', billedSeconds: 9, usage: { outputSeconds: 3 } }],
  ]);
});
