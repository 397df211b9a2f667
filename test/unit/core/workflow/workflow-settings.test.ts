import { expect, test } from '@jest/globals';
import { workflowSettings } from '../../../../core/workflow/workflow-settings.ts';
import { withEnvironment } from '../../builders/environment.ts';

test('the settings are those of the environment', async () => {
  expect(workflowSettings()).toEqual({
    deadlineSeconds: { image: 600, video: 3600 },
    pollIntervalSeconds: 5,
  });
});

test.each([
  ['IMAGE_DEADLINE_SECONDS', { deadlineSeconds: { image: 7, video: 3600 }, pollIntervalSeconds: 5 }],
  ['VIDEO_DEADLINE_SECONDS', { deadlineSeconds: { image: 600, video: 7 }, pollIntervalSeconds: 5 }],
  ['POLL_INTERVAL_SECONDS', { deadlineSeconds: { image: 600, video: 3600 }, pollIntervalSeconds: 7 }],
])('%s is read at each call and must be set', async (name, settings) => {
  expect(await withEnvironment({ [name]: '7' }, workflowSettings)).toEqual(settings);
  await expect(withEnvironment({ [name]: '' }, workflowSettings)).rejects.toThrow(name);
});
