import { createHash, randomInt } from 'node:crypto';
import type { PolicyStatement, Principal } from '../types.ts';
import { TemplateError } from './assembly.ts';
import type { Resolver } from './resolver.ts';

interface StatementDocument {
  Effect?: 'Allow' | 'Deny';
  Action?: string | string[];
  Resource?: string | string[];
  NotAction?: unknown;
  NotResource?: unknown;
  Condition?: Record<string, unknown>;
}

const list = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);

type Conditions = Pick<PolicyStatement, 'leadingKeys' | 'attributes' | 'present'>;

/** What each supported condition asks of a call, by the values it names. */
const CONDITIONS: Record<string, (values: string[]) => Conditions> = {
  'ForAllValues:StringLike on dynamodb:LeadingKeys': (leadingKeys) => ({ leadingKeys }),
  'ForAllValues:StringEquals on dynamodb:Attributes': (attributes) => ({ attributes }),
  'Null on dynamodb:Attributes is false': () => ({ present: ['attributes'] }),
};

/** The conditions of a statement. Throws `TemplateError` for an unsupported one: ignoring it would allow what is refused when deployed. */
const conditionsOf = (condition: Record<string, unknown>, owner: string): Conditions => {
  const conditions = Object.entries(condition).flatMap(([operator, keys]) =>
    Object.entries(keys as Record<string, unknown>).map(([key, given]): Conditions => {
      const values = list(given).map(String);
      const name = `${operator} on ${key}${operator === 'Null' ? ` is ${values.join()}` : ''}`;
      const variable = values.find((value) => value.includes('${'));
      if (variable !== undefined) {
        throw new TemplateError(`${owner}: the policy variable in ${variable} is not known to the local run`);
      }
      const read = CONDITIONS[name];
      if (!read) throw new TemplateError(`${owner}: the condition ${name} is not evaluated by the local run`);
      return read(values);
    }),
  );
  return Object.assign({}, ...conditions);
};

/** The statements of a policy document. Throws `TemplateError` for one that would be evaluated differently when deployed. */
const statementsOf = (resolver: Resolver, document: unknown, owner: string): PolicyStatement[] => {
  const { Statement = [] } = resolver.resolve(document) as {
    Statement?: StatementDocument | StatementDocument[];
  };
  return list(Statement).map(({ Effect = 'Deny', Action, Resource, Condition }) => {
    if (Action === undefined || Resource === undefined) {
      throw new TemplateError(
        `${owner}: a statement without Action or Resource (NotAction, NotResource) is not supported`,
      );
    }
    return {
      effect: Effect,
      actions: list(Action),
      resources: list(Resource),
      ...(Condition && conditionsOf(Condition, owner)),
    };
  });
};

/** A role of the template. */
export interface RoleSpec {
  arn: string;
  name: string;
  /** From inline policies and policies attached in this template. AWS managed policies are ignored. */
  statements: PolicyStatement[];
}

/** The stack's roles by ARN. */
export const roleSpecs = (resolver: Resolver): Map<string, RoleSpec> => {
  const roles = new Map<string, RoleSpec>();
  const byName = new Map<string, RoleSpec>();
  const byPolicyArn = new Map<string, PolicyStatement[]>();

  for (const { logicalId, properties } of resolver.resources('AWS::IAM::Role')) {
    const inline = (properties.Policies as { PolicyDocument: unknown }[] | undefined) ?? [];
    const role: RoleSpec = {
      arn: String(resolver.attribute(logicalId, 'Arn')),
      name: resolver.nameOf(logicalId),
      statements: inline.flatMap(({ PolicyDocument }) => statementsOf(resolver, PolicyDocument, logicalId)),
    };
    roles.set(role.arn, role);
    byName.set(role.name, role);
  }
  for (const { logicalId, properties } of resolver.resources('AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy')) {
    const statements = statementsOf(resolver, properties.PolicyDocument, logicalId);
    byPolicyArn.set(resolver.reference(logicalId), statements);
    for (const name of resolver.resolve(properties.Roles ?? []) as string[]) {
      byName.get(name)?.statements.push(...statements);
    }
  }
  for (const { logicalId, properties } of resolver.resources('AWS::IAM::Role')) {
    for (const arn of resolver.resolve(properties.ManagedPolicyArns ?? []) as string[]) {
      byName.get(resolver.nameOf(logicalId))?.statements.push(...(byPolicyArn.get(arn) ?? []));
    }
  }
  return roles;
};

const KEY_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The caller with `role`, under a new access key; a role outside the template may do nothing. Calls are counted by `name`. */
export const principalOf = (name: string, role: RoleSpec | undefined): Principal => ({
  name,
  accessKeyId: `AKIA${Array.from({ length: 16 }, () => KEY_ALPHABET.charAt(randomInt(KEY_ALPHABET.length))).join('')}`,
  statements: role?.statements ?? [],
});

/** The secret access key for an access key id. Signatures are not checked, so it only has to exist. */
export const secretAccessKeyOf = (accessKeyId: string) =>
  createHash('sha256').update(`secret of ${accessKeyId}`).digest('base64url').slice(0, 40);
