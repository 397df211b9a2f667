import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CATALOG, DEFAULT_RATES } from '../../core/models/catalog.ts';
import { type AService, runProcess, startService, writeLocalRun } from './a-service.ts';

let service: AService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

describe('rates', () => {
  test('list prints every model in catalog order, at first with the default rates', async () => {
    expect(await service.json('rates', 'list')).toEqual(
      CATALOG.map(({ id, billing }) => ({ model: id, billing, ...DEFAULT_RATES[id] })),
    );
  });

  test('set stores the rate of an image model, and list prints it', async () => {
    const perImage = [
      { maxPixels: 1_000_000, xTokens: 1.5 },
      { maxPixels: null, xTokens: 2.125 },
    ];

    const stored = await service.json(
      ...['rates', 'set', '--model', 'xSD5Pro', '--value', JSON.stringify({ perImage })],
    );

    expect(stored).toEqual({ model: 'xSD5Pro', billing: 'per_image', perImage });
    expect(await service.json('rates', 'list')).toContainEqual(stored);
  });

  test('set stores the rate of a video model, given with or without perSecond', async () => {
    const perSecond = { '720p': 5.5, '1080p': 9 };
    const set = (value: unknown) =>
      service.json('rates', 'set', '--model', 'xW2.7S', '--value', JSON.stringify(value));

    const stored = await set({ perSecond: { '1080p': 9, '720p': 5.5 } });

    expect(stored).toEqual({ model: 'xW2.7S', billing: 'per_second', perSecond });
    expect(JSON.stringify(stored)).toContain(JSON.stringify(perSecond));
    expect(await set(perSecond)).toEqual(stored);
    expect(await service.json('rates', 'list')).toContainEqual(stored);
  });

  test.each([
    ['a model that does not exist', 'xNone', '{"perSecond":{"720p":1}}', 1, /There is no model xNone\./],
    ['a value that is not JSON', 'xSD5Pro', '{perImage}', 2, /must be JSON like/],
    ['a value of another shape', 'xSD5Pro', '{"perImage":[{"xTokens":1}]}', 2, /must be JSON like/],
    ['a price an image for a video model', 'xW2.7S', '{"perImage":[]}', 2, /billed per second/],
    ['a rate without its last tier', 'xSD5Pro', '{"perImage":[{"maxPixels":5,"xTokens":1}]}', 2, /last tier/],
    ['a rate without a resolution', 'xW2.7S', '{"perSecond":{"720p":1}}', 2, /lacks 1080p/],
    ['too fine a price', 'xSD5Pro', '{"perImage":[{"maxPixels":null,"xTokens":0.0001}]}', 2, /3 decimals/],
  ])('set of %s is refused', async (_case, model, value, status, message) => {
    const outcome = await service.ops('rates', 'set', '--model', model, '--value', value, '--json');

    expect(outcome).toEqual({ status, stdout: '', stderr: expect.stringMatching(message) });
  });

  test('list prints one row per tier or resolution without --json', async () => {
    const { stdout } = await service.ops('rates', 'list');

    expect(stdout).toMatch(/^MODEL +UNIT +OF +XTOKENS\n/);
    expect(stdout).toMatch(/xSD4\.5 +image +up to 4,194,304 pixels +4\n/);
    expect(stdout).toMatch(/xSD4\.5 +image +any size +6\n/);
    expect(stdout).toMatch(/xW3\.0s +second +720p +6\n/);
  });
});

describe('models', () => {
  const unrouted = { provider: null, dispatchable: false, reason: 'no upstream model is configured' };

  test('list says of every model whether it can be dispatched, and why not', async () => {
    service.filledSecrets.delete('studio-key');

    const { stdout } = await runProcess(['models', 'list', '--json', '--data-dir', service.dataDirectory]);

    service.filledSecrets.add('studio-key');
    const special: Record<string, object> = {
      'xSD4.5': { provider: 'modelark', dispatchable: true, reason: null },
      xQI3Pro: { provider: 'modelstudio', dispatchable: false, reason: 'no credential for modelstudio' },
    };
    expect(JSON.parse(stdout)).toEqual(
      CATALOG.map(({ id, type }) => ({ id, type, enabled: true, ...(special[id] ?? unrouted) })),
    );
  });

  test('list prints a table without --json', async () => {
    const { stdout } = await service.ops('models', 'list');

    expect(stdout).toMatch(/^MODEL +TYPE +PROVIDER +ENABLED +DISPATCHABLE +REASON\n/);
    expect(stdout).toMatch(/xQI3Pro +image +modelstudio +yes +yes +-\n/);
    expect(stdout).toMatch(/xW2\.7S +video +- +yes +no +no upstream model is configured\n/);
  });

  test('a local run without stack outputs is refused with one line', async () => {
    await writeLocalRun(service.dataDirectory, service.endpointUrl, { outputs: undefined });

    const outcome = await runProcess(['models', 'list', '--json', '--data-dir', service.dataDirectory]);

    await writeLocalRun(service.dataDirectory, service.endpointUrl);
    expect(outcome).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^[^\n]*Environment variable MODEL\w+ is not set[^\n]*\n$/),
    });
  });
});
