import { describe, expect, test } from '@jest/globals';
import { refusal } from '../contract/support/answers.ts';
import { accepted, eventually, read, settled, unique } from '../contract/support/client.ts';
import { fetchFile } from '../contract/support/files.ts';
import { entriesOf, expectUnbrokenChain } from '../contract/support/ledger.ts';
import { useOwnRun } from './own-run.ts';

const OUTPUT_TTL_SECONDS = 8;
const RETENTION_SECONDS = 8.64;

const { caller } = useOwnRun({
  context: {
    outputTtlSeconds: OUTPUT_TTL_SECONDS,
    retentionDays: RETENTION_SECONDS / 86_400,
    pollIntervalSeconds: 1,
  },
});

describe('A succeeded request', () => {
  let requestId: string;
  let expiresAt: number;
  let url: string | undefined;

  test('is readable, with its files, until expiresAt', async () => {
    ({ requestId } = await accepted(caller, { model: 'xZI1.0Pro', size: '512x512' }));

    const { status, images = [], finishedAt = '' } = await settled(caller, requestId);

    expect(status).toBe('succeeded');
    url = images[0]?.url;
    expiresAt = Date.parse(images[0]?.expiresAt ?? '');
    expect(expiresAt - Date.parse(finishedAt)).toBe(OUTPUT_TTL_SECONDS * 1000);
    expect((await fetchFile(url)).status).toBe(200);
  });

  test('reads expired from expiresAt on, with exactly the fields of that status', async () => {
    const expired = await eventually(
      () => read(caller, requestId),
      ({ status }) => status !== 'succeeded',
    );

    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
    expect(expired.status).toBe('expired');
    expect(Object.keys(expired).sort()).toEqual(
      [
        ...['requestId', 'model', 'status', 'prompt', 'referencesCount', 'endUserEmail'],
        ...['createdAt', 'finishedAt'],
      ].sort(),
    );
  });

  test('has no readable file after that', async () => {
    expect((await fetchFile(url)).status).toBe(403);
  });

  test('reads 404 after the retention time, even if TTL has not removed it', async () => {
    const answer = await eventually(
      () => caller.get(`/v1/generations/${requestId}`),
      ({ status }) => status !== 200,
    );

    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt + RETENTION_SECONDS * 1000);
    expect(refusal(answer)).toEqual([404, 'not_found']);
  });

  test('keeps its ledger entry', async () => {
    expect(await entriesOf(caller, requestId)).toEqual([['generation', 1]]);
    await expectUnbrokenChain(caller);
  });
});

test('A failed request reads 404 after the retention time', async () => {
  const { requestId } = await accepted(caller, { prompt: unique('[fail=provider_error]') });
  const { finishedAt = '' } = await settled(caller, requestId);

  const answer = await eventually(
    () => caller.get(`/v1/generations/${requestId}`),
    ({ status }) => status !== 200,
  );

  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(finishedAt) + RETENTION_SECONDS * 1000);
  expect(refusal(answer)).toEqual([404, 'not_found']);
});
