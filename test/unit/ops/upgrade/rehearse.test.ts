import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { rehearse } from '../../../../ops/upgrade/rehearse.ts';
import { answer, createDeployment, type FakeDeployment, type FakeRequest } from './a-deployment.ts';

const progress = { update: jest.fn(), succeed: jest.fn(), fail: jest.fn(), stop: jest.fn() };
let deployment: FakeDeployment;
beforeEach(() => {
  deployment = createDeployment();
});

const rehearsed = async () => {
  const { releases, stage, now } = deployment;
  return rehearse({ releases, tag: 'v1.0.0', open: async () => stage, progress, now });
};
/** The failed results, by name. */
const failures = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await rehearsed()).filter(({ result }) => result === 'failed').map(({ name, detail }) => [name, detail]),
  );
const lose = (isOne: (request: FakeRequest) => boolean) => () => {
  for (const request of deployment.requests.values()) request.isLost ||= isOne(request);
};

describe('a rehearsal', () => {
  test('deploys the release, these sources and the release again, and leaves nothing', async () => {
    expect(await failures()).toEqual({});
    expect(deployment.done).toEqual([
      ...['check out v1.0.0', 'deploy 1.0.0', 'deploy 1.1.0', 'deploy 1.0.0'],
      ...['destroy 1.0.0', 'remove'],
    ]);
  });

  test('reports work of each kind, in both directions', async () => {
    const names = (await rehearsed()).map(({ name }) => name);

    for (const round of ['upgrade', 'back']) {
      for (const kind of [
        'synchronous image and its webhook',
        'polled videos',
        'videos waiting for capacity',
        'video with a callback',
        'pending webhook',
        'deletions during the deployment',
        'deletion whose call died',
        'a new image',
      ]) {
        expect(names).toContain(`${round}: ${kind}`);
      }
    }
  });

  test('starts the slow work so late that a deployment finds it', async () => {
    const unfinished: string[][] = [];
    deployment.onUpgrade = () => {
      const now = deployment.now().getTime();
      const slow = [...deployment.requests.values()].filter(({ readyAt }) => readyAt > now);
      unfinished.push(slow.map(({ model, isWaiting }) => `${model}${isWaiting ? ' waits' : ''}`));
    };

    await rehearsed();

    const all = ['called-back', 'polled', 'polled', 'polled waits', 'polled waits', 'image'];
    expect(unfinished).toEqual([all, all]);
  });
});

describe('what a deployment loses is reported', () => {
  test.each<[string, (request: FakeRequest) => boolean]>([
    [
      'synchronous image and its webhook',
      ({ webhookUrl }) => webhookUrl?.endsWith('/sandbox/webhooks') === true,
    ],
    ['polled videos', ({ model, isWaiting }) => model === 'polled' && !isWaiting],
    ['videos waiting for capacity', ({ isWaiting }) => isWaiting],
    ['video with a callback', ({ model }) => model === 'called-back'],
    ['pending webhook', ({ webhookUrl }) => webhookUrl?.endsWith('/refused') === true],
  ])('%s', async (name, isOne) => {
    deployment.onUpgrade = lose(isOne);

    expect(Object.keys(await failures())).toEqual([`upgrade: ${name}`, `back: ${name}`]);
  });

  test('a delivery that is not repeated', async () => {
    deployment.onUpgrade = () => {
      for (const request of deployment.requests.values()) {
        if (request.webhookUrl?.endsWith('/refused')) delete request.webhookUrl;
      }
    };

    expect(await failures()).toEqual({
      'upgrade: pending webhook': expect.stringContaining('is not sent to its receiver again'),
      'back: pending webhook': expect.stringContaining('is not sent to its receiver again'),
    });
  });

  test('an end-user that is not deleted', async () => {
    deployment.override = (method) => (method === 'DELETE' ? answer(500) : undefined);

    expect(Object.keys(await failures())).toEqual([
      'upgrade: deletions during the deployment',
      'back: deletions during the deployment',
    ]);
  });

  test('a deletion that nobody finishes', async () => {
    deployment.stage.beginDeletion = async () => undefined;

    expect(await failures()).toEqual({
      'upgrade: deletion whose call died': expect.stringContaining('is still there'),
      'back: deletion whose call died': expect.stringContaining('is still there'),
    });
  });

  test('a call that is answered 500 while the deployment runs', async () => {
    deployment.override = (_method, path) => {
      const isDuring = deployment.done.at(-1) === 'deploy 1.1.0' && deployment.now().getSeconds() % 7 === 0;
      return path === '/v1/balance' && isDuring
        ? answer(500, {}, { 'x-service-version': '1.1.0' })
        : undefined;
    };

    expect(await failures()).toEqual({
      'upgrade: answers during the deployment': expect.stringMatching(/500 x \d+/),
    });
  });

  test('a stack that goes on answering as another version', async () => {
    deployment.override = (_method, path) =>
      path === '/v1/balance' ? answer(200, {}, { 'x-service-version': '1.1.0' }) : undefined;

    expect(await failures()).toEqual({
      'back: version that answers': 'The API still answers as 1.1.0.',
    });
  });

  test('money and executions', async () => {
    deployment.stage.ledgerProblems = async () => ['A gap.'];
    deployment.stage.failedExecutions = async () => ['img_1 FAILED.'];

    expect(await failures()).toEqual({ 'the ledger': 'A gap.', executions: 'img_1 FAILED.' });
  });
});

describe('a step without which the rest means nothing', () => {
  test('ends the rehearsal when it fails; the stack and the checkout go', async () => {
    const { deploy } = deployment.releases;
    deployment.releases.deploy = async (release) => {
      await deploy(release);
      if (release.version === '1.1.0') throw new Error('UPDATE_ROLLBACK_COMPLETE');
    };

    expect(await failures()).toEqual({ 'upgrade: deployment': 'Error: UPDATE_ROLLBACK_COMPLETE' });
    expect(deployment.done.slice(-3)).toEqual(['deploy 1.1.0', 'destroy 1.1.0', 'remove']);
  });

  test('destroys nothing before the first deployment', async () => {
    deployment.releases.present = async () => {
      throw new Error('no');
    };

    expect(await failures()).toEqual({ 'these sources': 'Error: no' });
    expect(deployment.done).toEqual(['check out v1.0.0', 'remove']);
  });
});
