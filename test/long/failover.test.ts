import { expect, test } from '@jest/globals';
import { accepted, settled, unique } from '../contract/support/client.ts';
import { balance } from '../contract/support/ledger.ts';
import { ops } from '../contract/support/local-service.ts';
import { useOwnRun } from './own-run.ts';

const TOPPED_UP = 10_000;
const REQUESTS = 40;
/** After so many of them ModelArk is killed. */
const KILLED_AFTER = 20;

const { service, caller, proxy } = useOwnRun({
  proxied: ['modelArkBaseUrl'],
  xTokens: TOPPED_UP,
  context: {
    modelRoutes: JSON.stringify({
      'xSD4.5': [
        { provider: 'modelark', upstreamModel: 'seedream-4-5-251128' },
        { provider: 'fal', upstreamModel: 'fal-ai/bytedance/seedream/v4.5' },
      ],
      xQI3Pro: [
        { provider: 'modelstudio', upstreamModel: 'qwen-image-3.0-pro' },
        { provider: 'fal', upstreamModel: 'alibaba/qwen-image-3' },
      ],
    }),
  },
});

/** The tasks at fal with this in their prompts, by the sandbox's own book. */
const falTasks = async (promptPart: string): Promise<unknown[]> => {
  const url = new URL('/sandbox/tasks', service.sandboxUrl);
  url.searchParams.set('prompt', promptPart);
  const { tasks } = (await (await fetch(url)).json()) as { tasks: { upstream: string }[] };
  return tasks.filter(({ upstream }) => upstream === 'fal');
};

interface RouteRow {
  provider: string;
  upstreamModel: string;
  state: string;
  cause: string | null;
}

test('A provider that is killed in the middle of forty requests loses none of them, and none is paid twice', async () => {
  /** The creations that ModelArk took, by prompt, with the time of the answer, if any. */
  const taken = new Map<string, { isAnswered: boolean }>();
  proxy.stop = ({ path, body }, response) => {
    if (!path.endsWith('/images/generations')) return false;
    const call = { isAnswered: false };
    taken.set(String((body as { prompt: string }).prompt), call);
    response.once('finish', () => {
      call.isAnswered = true;
    });
    return false;
  };
  const prompts: string[] = [];
  const ids: string[] = [];
  for (let index = 0; index < REQUESTS; index++) {
    if (index === KILLED_AFTER) await proxy.close();
    const model = index % 4 === 3 ? 'xQI3Pro' : 'xSD4.5';
    const prompt = unique(`[delay=0.4] ${index}-`);
    prompts.push(prompt);
    ids.push((await accepted(caller, { model, prompt })).requestId);
  }
  const records = await Promise.all(ids.map((id) => settled(caller, id)));

  const outcomes = await Promise.all(
    records.map(async ({ status, cost }, index) => {
      const prompt = prompts[index] ?? '';
      const atModelArk = taken.get(prompt);
      return { status, cost, atModelArk, atFal: (await falTasks(prompt)).length };
    }),
  );
  // What ModelArk took without an answer may be paid for: it fails, and is refunded.
  const broken = outcomes.filter(({ atModelArk }) => atModelArk?.isAnswered === false);
  expect(broken.every(({ status, atFal }) => status === 'failed' && atFal === 0)).toBe(true);
  const others = outcomes.filter(({ atModelArk }) => atModelArk?.isAnswered !== false);
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set(['succeeded']));
  expect(others.length).toBeGreaterThanOrEqual(REQUESTS - KILLED_AFTER);
  expect(outcomes.filter(({ atModelArk, atFal }) => (atModelArk ? 1 : 0) + atFal > 1)).toEqual([]);
  expect(outcomes.filter(({ atFal }) => atFal === 1).length).toBeGreaterThanOrEqual(15);
  const paid = records.reduce((sum, { cost = 0 }) => sum + cost, 0);
  expect(await balance(caller)).toBe(TOPPED_UP - paid);
  const routes = await ops<RouteRow[]>(service, 'routes', 'list');
  expect(routes.find(({ provider }) => provider === 'modelark')).toMatchObject({ cause: 'calls' });
});
