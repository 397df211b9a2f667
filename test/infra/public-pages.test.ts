import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stop } from 'esbuild';
import { CONSOLE_PAGES, PUBLIC_PAGES } from '../../core/files/pages.ts';
import { cachedBundles } from '../../lib/bundle-cache.ts';
import { onlyOne, policiesOf, type Resource, render, roleOf, synthesizeService } from './service-template.ts';

/** AWS's managed cache policy: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-cache-policies.html */
const CACHING_OPTIMIZED = '658327ea-f89d-4fab-a63d-7e88639e58f6';

/** Bytes of each page as it is sent to a client that takes no compression. */
const sizes = new Map<string, number>();
const service = await synthesizeService();
const distribution = onlyOne(service.resources, 'AWS::CloudFront::Distribution').Properties
  .DistributionConfig;
let files: Record<string, string>;
afterAll(() => stop());
beforeAll(async () => {
  const folder = (await cachedBundles())('events/publish-pages');
  files = Object.fromEntries(
    [...PUBLIC_PAGES, ...CONSOLE_PAGES].map(({ file, encoding }) => {
      const bytes = readFileSync(join(folder, file));
      sizes.set(file, bytes.length);
      return [file, (encoding === 'gzip' ? gunzipSync(bytes) : bytes).toString()];
    }),
  );
});

describe('the paths of the public pages', () => {
  test('are read over HTTPS by everyone, from the bucket: the document and the reference page', () => {
    const behaviors: Resource['Properties'][] = distribution.CacheBehaviors;

    expect(behaviors.map(({ PathPattern }) => PathPattern)).toEqual([
      ...['/', '/openapi.json', '/docs', '/docs/*'],
    ]);
    for (const behavior of behaviors) {
      expect(behavior).toMatchObject({
        AllowedMethods: ['GET', 'HEAD'],
        ViewerProtocolPolicy: 'redirect-to-https',
        CachePolicyId: CACHING_OPTIMIZED,
        Compress: true,
        TargetOriginId: distribution.DefaultCacheBehavior.TargetOriginId,
      });
      expect(behavior.TrustedKeyGroups).toBeUndefined();
      expect(behavior.FunctionAssociations).toBeUndefined();
    }
  });

  test('have a policy by which browsers load nothing from elsewhere', () => {
    for (const { ResponseHeadersPolicyId } of distribution.CacheBehaviors) {
      const policy = service.resources[ResponseHeadersPolicyId.Ref]?.Properties.ResponseHeadersPolicyConfig;
      const { ContentSecurityPolicy, ...others } = policy.SecurityHeadersConfig;
      const directives = ContentSecurityPolicy.ContentSecurityPolicy.split('; ');

      expect(ContentSecurityPolicy.Override).toBe(true);
      expect(directives).toContain("default-src 'self'");
      // No directive names another host, and no script is taken from the page itself.
      expect(directives.join(' ')).not.toMatch(/https?:|\*|unsafe-eval|script-src/);
      expect(others).toEqual({
        ContentTypeOptions: { Override: true },
        ReferrerPolicy: { Override: true, ReferrerPolicy: 'no-referrer' },
        StrictTransportSecurity: { AccessControlMaxAgeSec: 63_072_000, Override: true },
      });
    }
  });

  test('have an address among the outputs of the stack', () => {
    expect(render((service.outputs.ReferenceUrl as { Value?: unknown } | undefined)?.Value)).toMatch(
      /^https:\/\/DeliveryDistribution.*\/docs$/,
    );
  });
});

describe('the pages', () => {
  test('are put again when their bundle or the address of the API changes, once the function may', () => {
    const pages = onlyOne(service.resources, 'Custom::PublicPages');
    const { logicalId, properties } = service.functions['events/publish-pages'] ?? {};
    const [policy] = policiesOf(service.resources, roleOf(service, 'events/publish-pages'));

    expect(pages.Properties.ServiceToken).toEqual({ 'Fn::GetAtt': [logicalId, 'Arn'] });
    expect(pages.Properties.Bundle).toBe(properties?.Code.S3Key);
    expect(render(pages.Properties.BaseUrl)).toMatch(/^https:\/\/.*\/prod$/);
    // Without it CloudFormation waits an hour for a function that cannot answer.
    expect(Number(pages.Properties.ServiceTimeout)).toBe(300);
    expect(pages.DependsOn).toContain(policy?.id);
  });

  test('are the committed document, a page that loads only its own, and Redoc without an address of its makers', () => {
    const committed = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));

    expect(files['openapi.json']).toBe(readFileSync(committed, 'utf8'));
    const addresses = [...(files['docs.html'] ?? '').matchAll(/(?:src|href|spec-url)="([^"]*)"/g)].map(
      ([, address = '']) => address,
    );
    expect(addresses).toEqual([
      ...['data:,', '/console', '/openapi.json', '/openapi.json', '/docs/redoc.standalone.js'],
    ]);
    expect(files['docs.html']).not.toMatch(/<script>|<script [^>]*>[^<]|https?:/);
    expect(files['redoc.standalone.js']?.length).toBeGreaterThan(500_000);
    expect(files['redoc.standalone.js']).not.toContain('cdn.redoc');
    expect(files['redoc.standalone.js.LICENSE.txt']).toContain('license');
  });

  test('cost less than $35 a million, whoever asks: the scripts are stored compressed', () => {
    // https://aws.amazon.com/cloudfront/pricing/: the dearest request and gigabyte of North America and Europe.
    const dollarsPerMillion = (bytes: number): number => 1.2 + (bytes / 1e9) * 0.085 * 1e6;

    expect([...sizes.keys()].filter((file) => file.endsWith('.js'))).toHaveLength(2);
    for (const [file, bytes] of sizes) {
      expect([file, dollarsPerMillion(bytes) < 35]).toEqual([file, true]);
    }
  });

  test('of the console load only their own, and their script asks no other host', () => {
    const addresses = [...(files['console.html'] ?? '').matchAll(/(?:src|href)="([^"]*)"/g)].map(
      ([, address]) => address,
    );

    expect(addresses).toEqual([
      expect.stringMatching(/^data:image\/svg\+xml,/),
      ...['/console/console.css', '/console/console.js', '/docs'],
    ]);
    expect(files['console.html']).not.toMatch(/<script>|<script [^>]*>[^<]|style=|https?:/);
    expect(files['console.css']).not.toMatch(/@import|url\(/);
    // Namespaces of SVG and MathML, and an example in a message of a package, are names.
    const hosts = new Set((files['console.js'] ?? '').match(/https?:\/\/[a-z0-9.-]+/g));
    expect([...hosts].toSorted()).toEqual(['http://www.w3.org']);
  });

  test('of the console name the license of each package in their script', () => {
    const packages = (files['console.licenses.txt'] ?? '')
      .split('\n---\n\n')
      .map((text) => text.split('\n')[0]);

    expect(packages).toEqual(['@preact/signals', '@preact/signals-core', 'preact']);
    expect(files['console.licenses.txt']?.match(/Permission is hereby granted/g)).toHaveLength(
      packages.length,
    );
    expect(files['console.js']).toMatch(/^\/\* Licenses .*\/console\/licenses\.txt \*\//);
  });
});
