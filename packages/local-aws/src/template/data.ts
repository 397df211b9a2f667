import { randomInt } from 'node:crypto';
import type { BucketCors } from '../aws/s3/cors.ts';
import type { SecretSpec, TableSpec } from '../types.ts';
import { TemplateError } from './assembly.ts';
import type { Resolver } from './resolver.ts';

const pick = (source: Record<string, unknown>, names: string[]): Record<string, unknown> =>
  Object.fromEntries(
    names.filter((name) => source[name] !== undefined).map((name) => [name, source[name]] as const),
  );

/** The stack's tables, always on demand: capacity has no meaning here. */
export const tableSpecs = (resolver: Resolver): TableSpec[] =>
  resolver
    .resources('AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable')
    .map(({ logicalId, properties }) => {
      const table = resolver.resolve(properties) as Record<string, unknown>;
      const indexes = (name: string) => {
        const declared = table[name] as Record<string, unknown>[] | undefined;
        return (
          declared && {
            [name]: declared.map((index) => pick(index, ['IndexName', 'KeySchema', 'Projection'])),
          }
        );
      };
      const stream = table.StreamSpecification as Record<string, unknown> | undefined;
      const recovery = table.PointInTimeRecoverySpecification as Record<string, unknown> | undefined;
      const ttl = table.TimeToLiveSpecification as { AttributeName: string; Enabled: boolean } | undefined;

      return {
        createTable: {
          TableName: resolver.nameOf(logicalId),
          BillingMode: 'PAY_PER_REQUEST',
          ...pick(table, ['AttributeDefinitions', 'KeySchema']),
          ...indexes('GlobalSecondaryIndexes'),
          ...indexes('LocalSecondaryIndexes'),
          ...(stream && {
            StreamSpecification: { StreamEnabled: true, ...pick(stream, ['StreamViewType']) },
          }),
        },
        ...(ttl?.Enabled && { ttlAttribute: ttl.AttributeName }),
        ...(recovery?.PointInTimeRecoveryEnabled === true && { pointInTimeRecovery: true }),
      };
    });

/** Names of the stack's buckets. */
export const bucketNames = (resolver: Resolver): string[] =>
  resolver.resources('AWS::S3::Bucket').map(({ logicalId }) => resolver.nameOf(logicalId));

interface CorsConfiguration {
  CorsRules: {
    AllowedMethods: string[];
    AllowedOrigins: string[];
    AllowedHeaders?: string[];
    ExposedHeaders?: string[];
    MaxAge?: number;
  }[];
}

/** What web pages may send to the stack's buckets. */
export const bucketCors = (resolver: Resolver): BucketCors =>
  Object.fromEntries(
    resolver.resources('AWS::S3::Bucket').map(({ logicalId, properties }) => {
      const cors = resolver.resolve(properties.CorsConfiguration) as CorsConfiguration | undefined;
      const rules = (cors?.CorsRules ?? []).map(
        ({ AllowedMethods, AllowedOrigins, AllowedHeaders = [], ExposedHeaders = [], MaxAge }) => ({
          allowedMethods: AllowedMethods,
          allowedOrigins: AllowedOrigins,
          allowedHeaders: AllowedHeaders,
          exposedHeaders: ExposedHeaders,
          ...(MaxAge !== undefined && { maxAgeSeconds: MaxAge }),
        }),
      );
      return [resolver.nameOf(logicalId), rules];
    }),
  );

const ALPHABETS = [
  ...['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789'],
  '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
];

/** A value as Secrets Manager's GetRandomPassword makes it, with at least one character of each type. Throws `TemplateError` for an option that is not known. */
const generateSecret = (owner: string, options: Record<string, unknown>): string => {
  const { PasswordLength = 32, ExcludePunctuation = false, ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown)
    throw new TemplateError(`${owner}: ${unknown} of GenerateSecretString is not known to the local run`);
  const alphabets = ExcludePunctuation ? ALPHABETS.slice(0, -1) : ALPHABETS;
  const length = Number(PasswordLength);
  if (length < alphabets.length)
    throw new TemplateError(`${owner}: GenerateSecretString cannot draw ${length} characters`);
  const all = alphabets.join('');
  // Drawing again keeps all valid values equally likely.
  for (;;) {
    const drawn = Array.from({ length }, () => all[randomInt(all.length)] ?? '');
    if (alphabets.every((alphabet) => drawn.some((one) => alphabet.includes(one)))) return drawn.join('');
  }
};

/** The stack's secrets, with the value in the template or a generated one. Each call generates anew; the store keeps the first. */
export const secretSpecs = (resolver: Resolver): SecretSpec[] =>
  resolver.resources('AWS::SecretsManager::Secret').map(({ logicalId, properties }) => {
    const { SecretString, GenerateSecretString } = properties;
    const generate = resolver.resolve(GenerateSecretString) as Record<string, unknown> | undefined;
    return {
      arn: resolver.reference(logicalId),
      name: resolver.nameOf(logicalId),
      ...(SecretString !== undefined && { initialValue: resolver.text(SecretString) }),
      ...(generate && { initialValue: generateSecret(logicalId, generate) }),
    };
  });
