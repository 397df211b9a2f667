import { describe, expect, test } from '@jest/globals';
import { BODY, errorOf, QUEUED, startServer } from './a-client.ts';
import { cut, hangUp, json, refuse } from './server.ts';

const { server, aClient } = await startServer();

describe('the raw answer', () => {
  test('is given to onResponse for each attempt, and can be read beside the result', async () => {
    server.answer(refuse(500, 'internal_error'), json(202, QUEUED, { 'x-version': '1.2' }));
    const answers: Response[] = [];

    const onResponse = (response: Response) => void answers.push(response);
    expect(await aClient().createImage(BODY, { onResponse })).toEqual(QUEUED);
    expect(answers.map(({ status }) => status)).toEqual([500, 202]);
    expect(answers[1]?.headers.get('x-version')).toBe('1.2');
    expect(await answers[1]?.json()).toEqual(QUEUED);
  });

  test('is given by every method, each page of a list and each read of a wait', async () => {
    const statuses: number[] = [];
    const options = { onResponse: ({ status }: Response) => void statuses.push(status) };
    const client = aClient();
    const calls = [
      ...[() => client.getImage('img_1', options), () => client.getVideo('vid_1', options)],
      ...[() => client.waitFor({ requestId: 'img_1' }, options), () => client.getBalance(options)],
      ...[() => client.listImages(options), () => client.listVideos(options)],
      ...[() => client.listEndUsers(options), () => client.listBalanceHistory(options)],
      ...[() => client.deleteRequest('img_1', options), () => client.deleteRequests(['img_1'], options)],
      ...[() => client.blockEndUser('a', options), () => client.unblockEndUser('a', options)],
      ...[() => client.getBudget('a', options), () => client.setBudget('a', {}, options)],
      ...[() => client.deleteEndUser('a', options), () => client.listModels(options)],
      ...[
        () => client.createVideo(BODY, options),
        () => client.createUpload({ contentType: 'image/png', bytes: 1 }, options),
      ],
    ];
    server.answer(json(200, { status: 'succeeded', data: [], items: [], conflicts: [], notFound: [] }));
    for (const call of calls) await call();

    expect(statuses).toEqual(calls.map(() => 200));
    for (const { path } of server.seen) expect(path).not.toContain('onResponse');
  });

  test('that does not come, or not whole, is not given', async () => {
    const answers: Response[] = [];
    server.answer(hangUp, cut);

    const onResponse = (response: Response) => void answers.push(response);
    const error = await errorOf(aClient({ maxRetries: 1 }).getBalance({ onResponse }));
    expect(error.name).toBe('ConnectionError');
    expect(answers).toEqual([]);
  });

  test('is not asked for again when onResponse throws, which the caller sees', async () => {
    const mine = new Error('mine');
    server.answer(json(200, {}));
    const onResponse = () => {
      throw mine;
    };

    await expect(aClient().getBalance({ onResponse })).rejects.toBe(mine);
    expect(server.seen).toHaveLength(1);
  });
});

describe('the message of an error without an answer', () => {
  test('has the call and its URL, without a query, which may name an end-user', async () => {
    server.answer(hangUp);
    const client = aClient({ maxRetries: 0 });

    expect((await errorOf(client.listImages({ endUserEmail: 'ada@example.com' }))).message).toBe(
      `The service could not be reached: GET ${server.url}/v1/generations`,
    );
    expect((await errorOf(client.createImage(BODY))).message).toBe(
      `The service could not be reached: POST ${server.url}/v1/generations`,
    );
  });

  test('says the same of one that comes too late', async () => {
    server.answer(() => undefined);

    expect((await errorOf(aClient({ maxRetries: 0, attemptSeconds: 0.05 }).getBalance())).message).toBe(
      `The service did not answer in time: GET ${server.url}/v1/balance`,
    );
  });
});
