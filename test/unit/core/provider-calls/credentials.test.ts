import { clearCaches } from '@aws-lambda-powertools/parameters';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { listCredentials } from '../../../../core/provider-calls/credentials.ts';
import { routesOf } from '../../../../core/provider-calls/model-routes.ts';
import { PROVIDER_IDS } from '../../../../core/provider-names.ts';
import { providerRouteOf } from '../../../../providers/registry.ts';
import { NOW } from '../../builders/clocks.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { MemorySecrets } from '../../fakes/memory-secrets.ts';
import { LoopbackServer } from '../../servers/loopback-server.ts';

const secrets = new MemorySecrets();
let start = NOW.getTime();
beforeEach(() => {
  clearCaches();
  secrets.reset();
  // Secrets are cached for 5 min, so each test starts an hour later.
  start += 3_600_000;
});
const later = (seconds: number): Date => new Date(start + seconds * 1000);

describe('the providers that have a credential', () => {
  test('are those whose secret has a value; the value is never read', async () => {
    for (const id of PROVIDER_IDS) secrets.set(`arn:${id}-key`, id === 'modelark' ? 'secret' : undefined);

    expect(await listCredentials(later(0))).toEqual(new Set(['modelark']));
    expect(secrets.reads()).toEqual(
      Object.fromEntries(PROVIDER_IDS.map((id) => [`DescribeSecret arn:${id}-key`, 1])),
    );
  });

  test('are by account, for each that a route leads to', async () => {
    secrets.set('arn:modelstudio-eu', 'secret');
    const route = { provider: 'modelstudio@eu', upstreamModel: 'qwen' };
    const environment = {
      MODEL_ROUTES: JSON.stringify({ xQI3Pro: route }),
      MODELSTUDIO_SECRET_ARN_EU: 'arn:modelstudio-eu',
    };

    const found = await withEnvironment(environment, () => listCredentials(later(0)));

    expect(found).toEqual(new Set(['modelstudio@eu']));
  });

  test('are looked up again after 5 min, and not before', async () => {
    expect(await listCredentials(later(0))).toEqual(new Set());
    secrets.set('arn:modelark-key', 'secret');
    secrets.set('arn:modelstudio-key', 'secret');

    expect(await listCredentials(later(299))).toEqual(new Set());
    expect(await listCredentials(later(300))).toEqual(new Set(['modelark', 'modelstudio']));
  });

  test('are not reported as none when the check-up fails', async () => {
    secrets.client.rejects(new Error('no secrets'));

    await expect(listCredentials(later(0))).rejects.toThrow('no secrets');
  });
});

describe('the route of a model', () => {
  test('is its provider, with base URL and credential, and the provider’s name for it', async () => {
    const server = await new LoopbackServer().start();
    server.answer(429, '');
    secrets.set('arn:modelark-key', 'ark-key');
    secrets.set('arn:modelstudio-key', 'studio-key');
    const call = { path: '/p', headers: {}, body: {} };

    await withEnvironment(
      { MODELARK_BASE_URL: `${server.url}/ark`, MODELSTUDIO_BASE_URL: `${server.url}/studio` },
      async () => {
        for (const model of ['xSD4.5', 'xQI3Pro']) {
          const { provider } = await providerRouteOf(model);
          await provider.submit(call, new AbortController().signal);
        }
      },
    );
    await server.close();

    expect((await providerRouteOf('xSD4.5')).upstreamModel).toBe('seedream');
    expect((await providerRouteOf('xQI3Pro')).provider.id).toBe('modelstudio');
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/ark/p', 'Bearer ark-key'],
      ['/studio/p', 'Bearer studio-key'],
    ]);
  });

  test('leads to its account, with the key and address of that', async () => {
    const server = await new LoopbackServer().start();
    server.answer(429, '');
    secrets.set('arn:modelstudio-eu', 'eu-key');
    const route = { provider: 'modelstudio@eu', upstreamModel: 'qwen' };
    const environment = {
      ...{
        MODEL_ROUTES: JSON.stringify({ xQI3Pro: route }),
        MODELSTUDIO_SECRET_ARN_EU: 'arn:modelstudio-eu',
      },
      MODELSTUDIO_BASE_URL_EU: `${server.url}/eu`,
    };

    await withEnvironment(environment, async () => {
      const { provider } = await providerRouteOf('xQI3Pro');
      await provider.query('task-1', new AbortController().signal);
      expect(provider.id).toBe('modelstudio@eu');
      const other = { ...route, provider: 'modelstudio@us' as const };
      await expect(providerRouteOf('xQI3Pro', other)).rejects.toThrow('is no configured account');
    });
    await server.close();

    expect(server.requests).toMatchObject([
      { path: '/eu/api/v1/tasks/task-1', headers: { authorization: 'Bearer eu-key' } },
    ]);
  });

  describe('of a call’s origin', () => {
    const server = new LoopbackServer();
    beforeAll(() => server.start());
    afterAll(() => server.close());
    beforeEach(() => {
      server.reset();
      secrets.set('arn:modelark-key', 'ark-key');
      secrets.set('arn:modelstudio-key', 'studio-key');
    });
    /** Queries a task at the address that the table has for it. */
    const query = async (provider: 'modelark' | 'modelstudio', path: string): Promise<string> => {
      const origin = { provider, upstreamModel: 'old', baseUrl: `${server.url}${path}` };
      const route = await providerRouteOf('xQI3Pro', origin);
      await route.provider.query('task-1', new AbortController().signal);
      return route.upstreamModel;
    };
    const configured = (run: () => Promise<void>) =>
      withEnvironment(
        {
          ...{ MODELARK_BASE_URL: `${server.url}/ark`, MODELSTUDIO_BASE_URL: `${server.url}/studio` },
          MODELARK_PREVIOUS_BASE_URL: `${server.url}/old`,
        },
        run,
      );

    test.each(['/ark', '/old'])(
      'is at today’s address or the declared previous one, with today’s key: %s',
      (path) =>
        configured(async () => {
          expect(await query('modelark', path)).toBe('old');
          expect(server.requests).toMatchObject([
            {
              path: `${path}/contents/generations/tasks/task-1`,
              headers: { authorization: 'Bearer ark-key' },
            },
          ]);
        }),
    );

    test.each([
      ['any other, as after a change of the attempt', 'modelark', '/stranger'],
      ['one that only begins alike', 'modelark', '/ark/../stranger'],
      ['that of another provider', 'modelark', '/studio'],
      ['another provider’s previous one', 'modelstudio', '/old'],
    ] as const)('is refused at %s, and its key is not read', (_, provider, path) =>
      configured(async () => {
        await expect(query(provider, path)).rejects.toThrow(`is no configured address of ${provider}.`);
        expect(server.requests).toEqual([]);
        expect(secrets.reads()).toEqual({});
      }),
    );
  });

  test.each(['xW3.0sPro', 'constructor', '__proto__', ''])('of %j is not configured', async (model) => {
    expect(routesOf(model)).toEqual([]);
    await expect(providerRouteOf(model)).rejects.toThrow(`No upstream is configured for ${model}.`);
  });

  test.each([
    '{"xSD4.5":{"provider":"other","upstreamModel":"x"}}',
    '{"xSD4.5":{"provider":"modelark","upstreamModel":""}}',
    '{"xSD4.5":{"provider":"modelark"}}',
    '{"xSD4.5":"modelark"}',
    '{"xSD4.5":[]}',
    'none',
  ])('is refused under the invalid configuration %s', async (MODEL_ROUTES) => {
    await expect(withEnvironment({ MODEL_ROUTES }, () => routesOf('xSD4.5'))).rejects.toThrow();
  });
});
