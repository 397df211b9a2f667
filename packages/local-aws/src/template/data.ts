import { randomInt } from 'node:crypto';
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

interface GenerateSecretString {
  PasswordLength?: number;
  ExcludeCharacters?: string;
  ExcludeLowercase?: boolean;
  ExcludeUppercase?: boolean;
  ExcludeNumbers?: boolean;
  ExcludePunctuation?: boolean;
  IncludeSpace?: boolean;
  RequireEachIncludedType?: boolean;
  SecretStringTemplate?: string;
  GenerateStringKey?: string;
}

/** A value as Secrets Manager's GetRandomPassword makes it: by default 32 characters with at least one of each type. */
const generateSecret = (options: GenerateSecretString): string => {
  const excluded = options.ExcludeCharacters ?? '';
  const alphabets = [
    options.ExcludeLowercase ? '' : 'abcdefghijklmnopqrstuvwxyz',
    options.ExcludeUppercase ? '' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
    options.ExcludeNumbers ? '' : '0123456789',
    options.ExcludePunctuation ? '' : '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
    options.IncludeSpace ? ' ' : '',
  ]
    .map((alphabet) => [...alphabet].filter((character) => !excluded.includes(character)))
    .filter((alphabet) => alphabet.length > 0);
  const length = options.PasswordLength ?? 32;
  const required = options.RequireEachIncludedType === false ? 0 : alphabets.length;
  if (alphabets.length === 0 || length < required) {
    throw new TemplateError(`GenerateSecretString cannot draw ${length} characters from what it leaves`);
  }
  const all = alphabets.flat();
  const draw = () => Array.from({ length }, () => all[randomInt(all.length)] ?? '');
  let drawn = draw();
  // Drawing again keeps all valid values equally likely.
  while (required > 0 && !alphabets.every((alphabet) => drawn.some((one) => alphabet.includes(one)))) {
    drawn = draw();
  }
  const { SecretStringTemplate: template, GenerateStringKey: key } = options;
  return template && key
    ? JSON.stringify({ ...JSON.parse(template), [key]: drawn.join('') })
    : drawn.join('');
};

/** The stack's secrets, with the value in the template or a generated one. Each call generates anew; the store keeps the first. */
export const secretSpecs = (resolver: Resolver): SecretSpec[] =>
  resolver.resources('AWS::SecretsManager::Secret').map(({ logicalId, properties }) => {
    const { SecretString, GenerateSecretString } = properties;
    const generate = resolver.resolve(GenerateSecretString) as GenerateSecretString | undefined;
    return {
      arn: resolver.reference(logicalId),
      name: resolver.nameOf(logicalId),
      ...(SecretString !== undefined && { initialValue: resolver.text(SecretString) }),
      ...(generate && { initialValue: generateSecret(generate) }),
    };
  });
