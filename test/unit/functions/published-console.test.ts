import * as files from 'node:fs/promises';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { CONSOLE_PAGES, PUBLIC_PAGES } from '../../../core/files/pages.ts';
import { aLambdaContext } from '../builders/api-events.ts';
import { answer, aResourceEvent } from '../builders/custom-resource.ts';
import { MemoryBucket } from '../fakes/memory-bucket.ts';

/** Every page is there, with the same text. */
const readFile = jest.fn(async (_url: URL) => Buffer.from('{}'));
jest.unstable_mockModule('node:fs/promises', () => ({ ...files, readFile }));
const { handler } = await import('../../../functions/events/publish-pages.ts');

const bucket = new MemoryBucket();
beforeEach(() => bucket.reset());

const publish = async (properties: Record<string, string>): Promise<string[]> => {
  const event = aResourceEvent('Update', { BaseUrl: 'https://api.example.com', ...properties });
  await handler(event, aLambdaContext());
  return [...bucket.objects.keys()].toSorted();
};
const keysOf = (pages: typeof PUBLIC_PAGES) => pages.map(({ key }) => key).toSorted();

describe('the pages beside the function', () => {
  test('are those of the API, without a console', async () => {
    expect(await publish({})).toEqual(keysOf(PUBLIC_PAGES));
    expect(answer()).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'public-pages' });
    expect(
      new Set(readFile.mock.calls.map(([url]) => new URL('./', url).pathname.split('/').at(-2))),
    ).toEqual(new Set(['events']));
  });

  test('are those of the console, too, where the stack has one', async () => {
    expect(await publish({ Console: 'true' })).toEqual(keysOf([...PUBLIC_PAGES, ...CONSOLE_PAGES]));
  });

  test('are not put there by a setting that is none', async () => {
    expect(await publish({ Console: 'false' })).toEqual([]);
    expect(answer()).toMatchObject({ Status: 'FAILED' });
  });
});
