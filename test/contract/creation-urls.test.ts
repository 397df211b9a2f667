import { beforeAll, describe, expect, test } from '@jest/globals';
import { wrongFields } from './support/answers.ts';
import {
  type AnyRecord,
  anUndrawnGeneration,
  type Caller,
  newCaller,
  sharedService,
} from './support/client.ts';

let caller: Caller;
beforeAll(async () => {
  caller = await newCaller(await sharedService());
});

const create = (body: Record<string, unknown>) =>
  caller.post<AnyRecord & { referencesCount: number }>('/v1/generations', anUndrawnGeneration(body));
const images = (count: number) => Array.from({ length: count }, (_, i) => `https://example.com/${i}.png`);
const urlOf = (characters: number) => 'https://example.com/'.padEnd(characters, 'a');

describe('references', () => {
  test.each([
    ['xSD4.5', 10],
    ['xSD5Pro', 10],
    ['xQI3Pro', 3],
  ])('of %s are limited to %i, and the record shows their number', async (model, most) => {
    const { status, body } = await create({ model, references: images(most) });

    expect([status, body.referencesCount]).toEqual([202, most]);
    expect(wrongFields(await create({ model, references: images(most + 1) }))).toEqual(['references']);
  });

  test('do not count against n', async () => {
    expect((await create({ model: 'xSD4.5', references: images(10), n: 15 })).status).toBe(202);
  });

  test('are refused by a model that takes none', async () => {
    expect(wrongFields(await create({ references: images(1) }))).toEqual(['references']);
  });

  test.each(['xSD4.5', 'xZI1.0Pro'])('may be an empty list with %s', async (model) => {
    const { status, body } = await create({ model, references: [] });

    expect([status, body.referencesCount]).toEqual([202, 0]);
  });

  test.each([['https://example.com/a.png'], [{ 0: 'https://example.com/a.png' }], [1]])(
    'must be a list, not %j',
    async (references) => {
      expect(wrongFields(await create({ model: 'xSD4.5', references }))).toEqual(['references']);
    },
  );

  test('are each named by index when wrong', async () => {
    const references = ['', 'https://example.com/a.png', null, 'http://example.com/b.png'];

    expect(wrongFields(await create({ model: 'xSD4.5', references }))).toEqual([
      'references[0]',
      'references[2]',
      'references[3]',
    ]);
  });
});

const REFUSED_URLS = [
  ['http to another host', 'http://example.com/a.png'],
  ['http to a private address', 'http://10.0.0.1/a.png'],
  ['another protocol', 'ftp://example.com/a.png'],
  ['data', 'data:image/png;base64,AAAA'],
  ['a file', 'file:///etc/passwd'],
  ['relative', '/a.png'],
  ['without a protocol', 'example.com/a.png'],
  ['a port of another protocol', 'https://example.com:25/a.png'],
  ['a user name', 'https://ada@example.com/a.png'],
  ['a password', 'https://ada:secret@example.com/a.png'],
  ['more than 2,048 characters', urlOf(2049)],
  ['not a URL', 'https://'],
  ['empty', ''],
];
const ACCEPTED_URLS = [
  ['https', 'https://example.com/a.png?b=c#d'],
  ['2,048 characters', urlOf(2048)],
  ['http to 127.0.0.1', 'http://127.0.0.1:4999/a.png'],
  ['http to localhost', 'http://localhost:4999/a.png'],
  ['http to ::1', 'http://[::1]:4999/a.png'],
];

describe('A reference URL', () => {
  test.each(REFUSED_URLS)('is refused: %s', async (_what, url) => {
    expect(wrongFields(await create({ model: 'xSD4.5', references: [url] }))).toEqual(['references[0]']);
  });

  // A local run allows loopback targets, so that developers can use servers on their own machine.
  test.each(ACCEPTED_URLS)('is accepted: %s', async (_what, url) => {
    expect((await create({ model: 'xSD4.5', references: [url] })).status).toBe(202);
  });
});

describe('A webhook URL', () => {
  test.each(REFUSED_URLS)('is refused: %s', async (_what, webhookUrl) => {
    expect(wrongFields(await create({ webhookUrl }))).toEqual(['webhookUrl']);
  });

  test.each(ACCEPTED_URLS)('is accepted: %s', async (_what, webhookUrl) => {
    expect((await create({ webhookUrl })).status).toBe(202);
  });
});
