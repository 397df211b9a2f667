// Runs in every runtime, with the package and the address of the test's server: what the client does there, as one object.
const nameOf = async (call) => {
  try {
    await call();
    return 'none';
  } catch (error) {
    return error.name;
  }
};

const { subtle } = crypto;
const KEY = 'a secret of webhooks';
const sign = async (text) => {
  const bytes = (value) => new TextEncoder().encode(value);
  const key = await subtle.importKey('raw', bytes(KEY), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return btoa(String.fromCharCode(...new Uint8Array(await subtle.sign('HMAC', key, bytes(text)))));
};

export const everywhere = async ({ ConnectionError, GenerationClient, verifyWebhook }, baseUrl) => {
  const client = new GenerationClient({ baseUrl, apiKey: 'gsk_test', maxRetries: 3 });
  const body = { model: 'a', prompt: 'b', endUserEmail: 'c' };
  // The server cuts every second answer to a creation.
  const request = await client.createImage(body);
  const { images } = await client.waitForSuccess(request, { intervalSeconds: 0.01 });
  const bytes = await (await client.download(images[0])).bytes();
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 30);

  const now = Math.floor(Date.now() / 1000);
  const raw = '{ "type": "video.failed", "text": "Zürich 🗼" }';
  const headers = async (timestamp, text = raw) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,AAAA v1,${await sign(`msg_1.${timestamp}.${text}`)}`,
  });
  const secret = `whsec_${btoa(KEY)}`;
  const verify = async (given, text = raw, secrets = secret) => verifyWebhook(text, await given, secrets);
  return {
    requestId: request.requestId,
    bytes: bytes.length,
    cut: await nameOf(async () => (await client.download({ ...images[0], url: `${baseUrl}/cut` })).bytes()),
    aborted: await nameOf(() => client.createImage({ ...body, prompt: 'hang' }, { signal: abort.signal })),
    refused: await nameOf(() => client.getImage('absent')),
    unreachable: await nameOf(async () => {
      const nowhere = new GenerationClient({
        baseUrl: 'http://127.0.0.1:1',
        apiKey: 'gsk_test',
        maxRetries: 0,
      });
      await nowhere.getBalance().catch((error) => {
        if (error instanceof ConnectionError) throw error;
      });
    }),
    webhook: (await verify(headers(now))).event.type,
    rotated: (await verify(headers(now), raw, [`whsec_${btoa('another')}`, secret])).id,
    stale: await nameOf(() => verify(headers(now - 400))),
    future: await nameOf(() => verify(headers(now + 400))),
    wrong: await nameOf(() => verify(headers(now), raw, `whsec_${btoa('another')}`)),
    changed: await nameOf(() => verify(headers(now), raw.replace('video', 'audio'))),
    rewritten: await nameOf(() => verify(headers(now), JSON.stringify(JSON.parse(raw)))),
    headless: await nameOf(() => verify({})),
  };
};
