import { expect, test } from '@jest/globals';
import { workflowSettings } from '../../../../core/environment.ts';
import { withEnvironment } from '../../builders/environment.ts';

const DEFAULTS = {
  deadlineSeconds: { image: 600, video: 3600 },
  queueDeadlineSeconds: 3600,
  pollIntervalSeconds: 2,
};

test('the settings are those of the environment', async () => {
  expect(workflowSettings()).toEqual(DEFAULTS);
});

test.each([
  ['IMAGE_DEADLINE_SECONDS', { deadlineSeconds: { image: 7, video: 3600 } }],
  ['VIDEO_DEADLINE_SECONDS', { deadlineSeconds: { image: 600, video: 7 } }],
  ['QUEUE_DEADLINE_SECONDS', { queueDeadlineSeconds: 7 }],
  ['POLL_INTERVAL_SECONDS', { pollIntervalSeconds: 7 }],
])('%s is read at each call and must be set', async (name, settings) => {
  expect(await withEnvironment({ [name]: '7' }, workflowSettings)).toEqual({ ...DEFAULTS, ...settings });
  await expect(withEnvironment({ [name]: '' }, workflowSettings)).rejects.toThrow(name);
});
