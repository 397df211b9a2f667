import '../../builders/environment.ts';
import { expect, jest, test } from '@jest/globals';

const loaded = jest.fn();
jest.unstable_mockModule('@aws-sdk/client-bedrock-runtime', () => {
  loaded();
  throw new Error('The client is loaded.');
});

test('the client of the content filter is loaded only when a guardrail is configured', async () => {
  const { screenPrompt } = await import('../../../../core/creation/content-filter.ts');

  await screenPrompt('anything');
  expect(loaded).not.toHaveBeenCalled();

  process.env.GUARDRAIL_ID = 'guardrail';
  process.env.GUARDRAIL_VERSION = '1';
  await expect(screenPrompt('anything')).rejects.toThrow('The client is loaded.');
  expect(loaded).toHaveBeenCalledTimes(1);
});
