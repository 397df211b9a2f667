import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AService, OPERATOR, runProcess, startService, writeLocalRun } from '../local/a-service.ts';

let service: AService;
let directory: string;
beforeAll(async () => {
  service = await startService();
  directory = await mkdtemp(join(tmpdir(), 'ops-target-'));
});
beforeEach(() => service.callers.clear());
afterAll(async () => {
  await service.stop();
  await rm(directory, { recursive: true });
});

/** Above the largest process id on Linux. */
const UNUSED_PID = 4_194_305;

/** Ordinary AWS settings, with this service as the endpoint. */
const aws = () => ({
  AWS_ENDPOINT_URL: service.endpointUrl,
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'SOMEBODY',
  AWS_SECRET_ACCESS_KEY: 'secret',
});
const list = ['accounts', 'list', '--json'];

describe('where a command acts', () => {
  test('on the local run in .local when no directory is given', async () => {
    const home = await mkdtemp(join(directory, 'home-'));
    await mkdir(join(home, '.local'));
    await writeLocalRun(join(home, '.local'), service.endpointUrl);

    expect(await runProcess(list, {}, home)).toEqual({ status: 0, stdout: '[]\n', stderr: '' });
  });

  test('on the local run with its own credentials, whatever AWS settings the shell has', async () => {
    const environment = {
      ...aws(),
      AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
      AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1',
      AWS_PROFILE: 'nobody',
      AWS_SESSION_TOKEN: 'token',
      TABLE_NAME: 'another-table',
    };

    const outcome = await runProcess(['--data-dir', service.dataDirectory, ...list], environment);

    expect(outcome).toEqual({ status: 0, stdout: '[]\n', stderr: '' });
    expect([...service.callers]).toEqual([OPERATOR.accessKeyId]);
  });

  test('on the stack, with the usual AWS credentials, when the local run is gone', async () => {
    await writeLocalRun(directory, 'http://127.0.0.1:1', { pid: UNUSED_PID });

    const outcome = await runProcess([...list, '--data-dir', directory, '--stack', 'Deployed'], aws());

    expect(outcome).toEqual({ status: 0, stdout: '[]\n', stderr: '' });
    expect([...service.callers]).toEqual(['SOMEBODY']);
  });

  test('on the stack with its routes and secrets', async () => {
    const { stdout } = await runProcess(['models', 'list', '--json', '--stack', 'Deployed'], aws());

    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ id: 'xSD4.5', provider: 'modelark', dispatchable: true }),
    );
  });

  test.each([
    [['--stack', 'Deployed'], {}],
    [['--stack', 'Deployed', '--region', 'eu-west-1'], { AWS_REGION: undefined }],
    // The stack has the name that is taken without one.
    [['--region', 'eu-west-1'], { AWS_REGION: undefined }],
  ])(
    'on the named stack, and in the named region, even while a local run is up: %j',
    async (place, changes) => {
      service.stacks.set('GenerationService', service.stacks.get('Deployed') ?? {});
      const home = await mkdtemp(join(directory, 'home-'));
      await mkdir(join(home, '.local'));
      await writeLocalRun(join(home, '.local'), 'http://127.0.0.1:1');

      const outcome = await runProcess([...list, ...place], { ...aws(), ...changes }, home);

      expect(outcome).toMatchObject({ status: 0 });
      service.stacks.delete('GenerationService');
    },
  );

  test('on the stack GenerationService when none is named', async () => {
    const outcome = await runProcess([...list, '--data-dir', join(directory, 'none')], aws());

    expect(outcome).toEqual({
      status: 1,
      stdout: '',
      stderr: `No local run is up in ${join(directory, 'none')}, and stack GenerationService cannot be used: Stack with id GenerationService does not exist. Start a local run with npm start, or name a stack by --stack and --region.\n`,
    });
  });

  test.each([
    ['no region', { AWS_REGION: undefined }, /Region is missing/],
    ['no credentials', { AWS_ACCESS_KEY_ID: undefined }, /credentials/],
  ])('nowhere with %s: one line, exit status 1', async (_case, changes, message) => {
    const outcome = await runProcess([...list, '--data-dir', join(directory, 'none')], {
      ...aws(),
      ...changes,
    });

    expect(outcome).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(message) });
    expect(outcome.stderr).toMatch(/^[^\n]+\n$/);
  });

  test('nowhere when the stack has no table', async () => {
    service.stacks.set('Half', { BaseUrl: 'https://example.com' });

    expect(await runProcess([...list, '--stack', 'Half'], aws())).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'stack Half cannot be used: it has no output TableName. Start a local run with npm start, or name a stack by --stack and --region.\n',
    });
  });

  test.each([
    ['is no JSON', 'half a fi'],
    ['lacks what is needed', '{"pid":1}'],
  ])('nowhere when local.json %s', async (_case, content) => {
    await writeFile(join(directory, 'local.json'), content);

    expect(await runProcess([...list, '--data-dir', directory], aws())).toEqual({
      status: 1,
      stdout: '',
      stderr: `${join(directory, 'local.json')} does not describe a local run. Start a local run with npm start, or name a stack by --stack and --region.\n`,
    });
  });

  test('an unreachable local run gives one line', async () => {
    await writeLocalRun(directory, 'http://127.0.0.1:1');

    const outcome = await runProcess([...list, '--data-dir', directory]);

    expect(outcome).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^[^\n]*ECONNREFUSED[^\n]*\n$/),
    });
  });
});
