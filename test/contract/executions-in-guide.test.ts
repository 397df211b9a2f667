import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { accepted, eventually, newCaller, settled, sharedService } from './support/client.ts';
import { type LocalService, ops } from './support/local-service.ts';

const GUIDE = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');

interface Execution {
  status: string;
  error: string | null;
  cause: string | null;
  states: { state: string }[];
}

/** An execution as the guide shows it: status and error, then its states in their order. */
const photographed = async (service: LocalService, requestId: string): Promise<string> => {
  const { executions } = await eventually(
    () => ops<{ executions: Execution[] }>(service, 'requests', 'show', requestId),
    (shown) => shown.executions[0]?.status !== 'RUNNING',
  );
  const [{ status, error, cause, states }] = executions as [Execution];
  const head = error === null ? status : `${status}  ${error}: ${cause}`;
  return [head, ...states.map(({ state }) => `  ${state}`)].join('\n');
};

test('The guide shows the executions of a good, a failed and a late refunded request as they are', async () => {
  const service = await sharedService();
  const caller = await newCaller(service);
  const photographs: string[] = [];
  for (const body of [
    { model: 'xSD4.5', prompt: 'a harbour' },
    { model: 'xSD4.5', prompt: 'a harbour [fail=provider_error]' },
    { model: 'xQI3Pro', prompt: 'a harbour [delay=2] [fail=provider_error]' },
  ]) {
    const { requestId } = await accepted(caller, body);
    await settled(caller, requestId);
    photographs.push(await photographed(service, requestId));
  }

  expect(/```text\n(SUCCEEDED[\s\S]*?)\n```/.exec(GUIDE)?.[1]).toBe(photographs.join('\n\n'));
});
