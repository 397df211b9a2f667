import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createEventBus } from '../../src/events/event-bus.ts';
import {
  type LocalAws,
  type LocalAwsOptions,
  type LocalAwsParts,
  startLocalAws,
} from '../../src/local-aws.ts';
import type { AwsEvent } from '../../src/types.ts';
import { createFakes } from './a-fake-run.ts';
import { synthesizeFixture } from './a-stack.ts';

const root = mkdtempSync(join(tmpdir(), 'local-aws-'));
const assembly = join(root, 'cdk.out');
const runs: LocalAws[] = [];
let dataDir: string;
let fakes: ReturnType<typeof createFakes>;

const machineArn = (prefix: string) =>
  fakes.seen.stateMachines.find(({ name }) => name.startsWith(prefix))?.arn ?? `no machine ${prefix}`;

const start = async (
  options: Partial<LocalAwsOptions> = {},
  parts: Partial<LocalAwsParts> = {},
): Promise<LocalAws> => {
  const run = await startLocalAws({ assembly, dataDir, port: 0, ...options }, { ...fakes.parts, ...parts });
  runs.push(run);
  return run;
};

const environmentOf = async (run: LocalAws): Promise<Record<string, string>> => {
  const response = await fetch(`${run.baseUrl}/v1/things`);
  return ((await response.json()) as { environment: Record<string, string> }).environment;
};

beforeAll(() => synthesizeFixture(assembly));
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  dataDir = mkdtempSync(join(root, 'data-'));
  fakes = createFakes();
});
afterEach(async () => {
  await Promise.all(runs.splice(0).map((run) => run.close()));
});

describe('a run of an assembly', () => {
  test('starts its parts in order, and stops executions before their functions', async () => {
    const run = await start({ beforeSchedules: async () => void fakes.story.push('before schedules') });
    await run.close();

    expect(fakes.story).toEqual([
      ...['endpoint', 'principals', 'state machines', 'before schedules', 'schedules'],
      ...['schedules closed', 'endpoint closed'],
    ]);
  });

  test('gives its URLs to the function that synthesizes the assembly', async () => {
    const given: unknown[] = [];

    const run = await start({
      assembly: (addresses) => {
        given.push(addresses);
        return assembly;
      },
    });

    expect(given).toEqual([{ baseUrl: run.baseUrl, filesUrl: `${run.baseUrl}/files` }]);
  });

  test('gives secrets their values, and replaces those an earlier run kept', async () => {
    fakes = createFakes('kept');

    await start({ secretValues: () => new Map([['service/model-studio-key', 'new']]) });

    const filled = fakes.seen.endpointOptions.secrets.filter(({ initialValue }) => initialValue === 'new');
    expect(filled.map(({ name }) => name)).toEqual(['service/model-studio-key']);
    expect(fakes.seen.secretsPut).toEqual([{ SecretId: 'service/model-studio-key', SecretString: 'new' }]);
  });

  test("gives the stack's rules and the events of executions to the event bus", async () => {
    await start();

    expect(fakes.seen.rules.map(({ name }) => name.replace(/[0-9A-F]{8}$/, ''))).toEqual([
      'Sweep',
      'ExecutionEnded',
    ]);
    expect(fakes.seen.publish).toBe(fakes.publish);
  });

  test('invokes the target of a rate rule once it is ready, and of a pattern rule on a matching event', async () => {
    const events: unknown[] = [];
    const heard = Promise.withResolvers<void>();
    await start(
      {},
      {
        createEventBus: (options) =>
          createEventBus({
            ...options,
            invocations: {
              add(target, payload, source) {
                options.invocations.add(target, payload, source);
                events.push(payload);
                if (events.length === 2) heard.resolve();
              },
            },
          }),
      },
    );
    const detail = { status: 'FAILED', stateMachineArn: machineArn('Flow') };

    fakes.seen.publish?.({
      source: 'aws.states',
      'detail-type': 'Step Functions Execution Status Change',
      detail,
    } as unknown as AwsEvent);
    await heard.promise;

    expect(events).toEqual(expect.arrayContaining([{ sweep: true }, expect.objectContaining({ detail })]));
  });

  test('adds the operator, who may do everything, and the roles as callers', async () => {
    const run = await start();

    expect(fakes.seen.principals[0]).toEqual({ name: 'operator', accessKeyId: run.operator.accessKeyId });
    expect(fakes.seen.principals.map(({ name }) => name.replace(/[0-9A-F]{8}$/, ''))).toEqual([
      ...['operator', 'MakeKeyPair', 'Echo', 'Flow', 'Expiry', 'WebhookDelivery'],
    ]);
  });

  test('runs the functions behind its routes, and answers unknown routes as the template says', async () => {
    const run = await start();

    const response = await fetch(`${run.baseUrl}/v1/things/7`);
    const { event, environment } = (await response.json()) as Record<string, Record<string, unknown>>;

    expect(event).toMatchObject({ resource: '/v1/things/{thingId}', pathParameters: { thingId: '7' } });
    expect(environment).toMatchObject({
      AWS_ENDPOINT_URL: run.endpoint.url,
      TABLE_NAME: run.stack.output('TableName'),
    });
    expect(environment?.AWS_ACCESS_KEY_ID).not.toBe(run.operator.accessKeyId);
    expect((await fetch(`${run.baseUrl}/v1/other`)).status).toBe(404);
    expect((await fetch(`${run.baseUrl}/v1/things`, { method: 'PUT' })).status).toBe(403);
  });

  test('refuses unsigned file URLs, with the key from the custom resource', async () => {
    const run = await start();
    expect((await environmentOf(run)).PUBLIC_KEY).toContain('BEGIN PUBLIC KEY');

    const file = await fetch(`${run.baseUrl}/files/a.png`);

    expect(file.status).toBe(403);
    expect(await file.text()).toContain('<Code>MissingKey</Code>');
  });

  test('finds its key pair again at the next start', async () => {
    const first = await start();
    const { PUBLIC_KEY } = await environmentOf(first);
    await first.close();

    const second = await start();

    expect((await environmentOf(second)).PUBLIC_KEY).toBe(PUBLIC_KEY);
  });
});

describe('a start that fails', () => {
  const boom = () => Promise.reject(new Error('boom'));

  test.each<[string, Partial<LocalAwsOptions>, Partial<LocalAwsParts>, string[]]>([
    ['at the assembly', { assembly: boom }, {}, []],
    ['at the endpoint', {}, { startAwsEndpoint: boom }, []],
    ['before the schedules', { beforeSchedules: boom }, {}, ['schedules closed', 'endpoint closed']],
  ])('%s stops what was started', async (_title, options, parts, closed) => {
    await expect(start(options, parts)).rejects.toThrow('boom');

    expect(fakes.story.filter((event) => event.endsWith('closed'))).toEqual(closed);
  });

  test('because it was aborted stops what was started', async () => {
    const controller = new AbortController();

    const starting = start({
      signal: controller.signal,
      beforeSchedules: async () => controller.abort(),
    });

    await expect(starting).rejects.toMatchObject({ name: 'AbortError' });
    expect(fakes.story).not.toContain('schedules');
    expect(fakes.story).toContain('endpoint closed');
  });
});
