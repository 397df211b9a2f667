import { describe, expect, test } from '@jest/globals';
import { parseImageRequest } from '../../../../core/creation/create-image-rules.ts';
import { urlProblem } from '../../../../core/creation/creation-fields.ts';
import { allowPrivateTargets } from '../../../../core/environment.ts';
import { aGenerationBody } from '../../builders/bodies.ts';
import { withEnvironment } from '../../builders/environment.ts';

describe('a URL given by a caller', () => {
  const HTTPS_ONLY = 'must be an absolute https URL';

  test.each([
    'https://example.com',
    'https://example.com:8443/a/b.png?x=1#y',
    'HTTPS://EXAMPLE.COM/',
    'https://xn--bcher-kva.example/',
    `https://example.com/${'a'.repeat(2048 - 20)}`,
  ])('may be %s', (url) => {
    expect(urlProblem(url, false)).toBeUndefined();
  });

  test.each([
    ['http://example.com/', HTTPS_ONLY],
    ['http://127.0.0.1/', HTTPS_ONLY],
    ['http://localhost:3000/', HTTPS_ONLY],
    ['ftp://example.com/', HTTPS_ONLY],
    ['file:///etc/passwd', HTTPS_ONLY],
    ['data:image/png;base64,AAAA', HTTPS_ONLY],
    ['javascript:alert(1)', HTTPS_ONLY],
    ['//example.com/', HTTPS_ONLY],
    ['/a.png', HTTPS_ONLY],
    ['example.com', HTTPS_ONLY],
    ['', HTTPS_ONLY],
    ['https://', HTTPS_ONLY],
    ['https://exa mple.com/', HTTPS_ONLY],
    [' https://example.com/', HTTPS_ONLY],
    ['https://example.com/\n', HTTPS_ONLY],
    ['https://exam\nple.com/', HTTPS_ONLY],
    ['https://example.com/a\tb', HTTPS_ONLY],
    ['https://example.com/\u0000', HTTPS_ONLY],
    ['https://example.com/\ud800', HTTPS_ONLY],
    ['https://example.com:25/', 'must not use the port of another protocol'],
    ['https://example.com:0/', 'must not use the port of another protocol'],
    ['https://example.com:10080/hook', 'must not use the port of another protocol'],
    ['https://ada@example.com/', 'must not carry user information'],
    ['https://:secret@example.com/', 'must not carry user information'],
    ['https://ada:secret@example.com/', 'must not carry user information'],
    [`https://example.com/${'a'.repeat(2048 - 19)}`, 'must be at most 2048 characters'],
  ])('may not be %s', (url, problem) => {
    expect(urlProblem(url, false)).toBe(problem);
  });

  test.each([
    'http://localhost:3000/hook',
    'http://127.0.0.1:3000/',
    'http://127.8.9.1/',
    'http://[::1]:3000/',
    'https://example.com/',
  ])('may be %s where private targets are allowed', (url) => {
    expect(urlProblem(url, true)).toBeUndefined();
  });

  test.each([
    'http://example.com/',
    'http://10.0.0.1/',
    'http://192.168.1.1/',
    'http://169.254.169.254/',
    'http://0.0.0.0/',
    'http://128.0.0.1/',
    'http://127.0.0.1.example.com/',
    'http://localhost.example.com/',
    'http://[::2]/',
    'ftp://localhost/',
  ])('may not be %s even there: plain http is for loopback only', (url) => {
    expect(urlProblem(url, true)).toBe(HTTPS_ONLY);
  });

  test('may be private only if ALLOW_PRIVATE_TARGETS is exactly "true"', async () => {
    const webhookUrl = 'http://127.0.0.1:3000/';
    const allowedWhen = (value: string) =>
      withEnvironment(
        { ALLOW_PRIVATE_TARGETS: value },
        () =>
          parseImageRequest(aGenerationBody({ webhookUrl, references: [webhookUrl] }), allowPrivateTargets())
            .ok,
      );

    expect(await allowedWhen('true')).toBe(true);
    for (const value of ['false', '', '1', 'TRUE']) expect(await allowedWhen(value)).toBe(false);
  });
});
