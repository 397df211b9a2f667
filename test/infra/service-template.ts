import { readFileSync } from 'node:fs';
import { namesOfProvider, PROVIDER_IDS } from '../../core/provider-names.ts';

/** A resource of the template. CloudFormation defines its properties. */
export interface Resource {
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is JSON without a schema here
  Properties: Record<string, any>;
  DependsOn?: string[];
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

/** A function of the service, with its logical id. */
export interface TemplateFunction {
  logicalId: string;
  properties: Resource['Properties'];
}

/** The template of the real stack. */
export interface ServiceTemplate {
  resources: Record<string, Resource>;
  outputs: Record<string, unknown>;
  /** Settings outside the template, passed to CloudFormation separately, and the warnings of the synthesis. */
  stack: { terminationProtection: boolean; tags: Record<string, string>; warnings: string[] };
  /** Each function by the name of its bundle, such as `api/get-balance`. */
  functions: Record<string, TemplateFunction>;
}

/** The context of `cdk.json`, on which every synthesis builds. */
export const projectContext = (): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8')).context;

/** Context with which the stack has every optional part. */
export const EVERYTHING_CONFIGURED = {
  canary: 'xSD4.5',
  guardrailId: 'guardrail1',
  publishRates: 'true',
  ...Object.fromEntries(
    PROVIDER_IDS.map((id) => [namesOfProvider(id).previousBaseUrlContextKey, `https://${id}.example`]),
  ),
};

/** Names the variable that tells a test process where the server of global set-up is. */
export const SYNTHESES_URL = 'INFRA_SYNTHESES_URL';

/** The request to that server for the code of all functions, in place of a context. Its answer is `[name, code][]`. */
export const FUNCTION_CODE = 'function code';

/** What this test file asked for so far. */
const asked = new Map<string, Promise<ServiceTemplate>>();

/**
 * The template of the real stack with the project's context and these overrides, synthesized once for all test files. Functions are
 * identified by their bundles. Rejects with the message of a synthesis that fails.
 */
export const synthesizeService = (overrides: Record<string, unknown> = {}): Promise<ServiceTemplate> => {
  // As entries: JSON would drop a key that is overridden with undefined.
  const body = JSON.stringify(Object.entries(overrides));
  const template = asked.get(body) ?? askInfraServer<ServiceTemplate>(body);
  asked.set(body, template);
  return template;
};

/** An answer of the server of global set-up. Rejects with the message of what failed there. */
export const askInfraServer = async <Answer>(body: string): Promise<Answer> => {
  const url = process.env[SYNTHESES_URL];
  if (!url) throw new Error('Infra tests run under their own jest project, which starts their server.');
  const response = await fetch(url, { method: 'POST', body });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Answer;
};

/** The resources of a type, with their logical ids. */
export const ofType = (resources: Record<string, Resource>, type: string): [string, Resource][] =>
  Object.entries(resources).filter(([, resource]) => resource.Type === type);

/** The properties of the resources of a type. */
export const propertiesOf = (resources: Record<string, Resource>, type: string): Resource['Properties'][] =>
  ofType(resources, type).map(([, { Properties }]) => Properties);

/** A statement of a policy in the template. */
export interface Statement {
  Effect?: string;
  Action: string | string[];
  Resource?: unknown;
  Condition?: Record<string, Record<string, unknown>>;
}

/** The logical id of a function's role. Throws for an unknown function. */
export const roleOf = ({ functions }: ServiceTemplate, name: string): string => {
  const found = functions[name];
  if (!found) throw new Error(`There is no function ${name}.`);
  return found.properties.Role['Fn::GetAtt'][0];
};

/** What roles are allowed, by default all of them: in themselves, and by policies beside them, also managed ones. */
export const policiesOf = (
  resources: Record<string, Resource>,
  roleId?: string,
): { id: string; roles: string[]; statements: Statement[] }[] => {
  const inline = ofType(resources, 'AWS::IAM::Role').flatMap(([id, { Properties }]) =>
    (Properties.Policies ?? []).map((policy: { PolicyDocument: { Statement: Statement[] } }) => ({
      ...{ id, roles: [id], statements: policy.PolicyDocument.Statement },
    })),
  );
  const beside = ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy']
    .flatMap((type) => ofType(resources, type))
    .map(([id, { Properties }]) => ({
      id,
      roles: Properties.Roles.map(({ Ref }: { Ref: string }) => Ref) as string[],
      statements: Properties.PolicyDocument.Statement as Statement[],
    }));
  return [...inline, ...beside].filter(({ roles }) => roleId === undefined || roles.includes(roleId));
};

/** The one resource of a type. Throws when there are none or several. */
export const onlyOne = (
  resources: Record<string, Resource>,
  type: string,
): Resource & { logicalId: string } => {
  const [first, ...more] = ofType(resources, type);
  if (!first || more.length > 0) throw new Error(`Expected one ${type}.`);
  return { logicalId: first[0], ...first[1] };
};

/**
 * A template value in readable form: logical ids without CDK's hash, intrinsic functions as text. `{ 'Fn::GetAtt': ['DataStoreTable1E9F5574', 'Arn'] }` is `DataStoreTable.Arn`.
 */
export const render = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return String(value);
  const [[intrinsic, argument] = ['', undefined]] = Object.entries(value);
  if (intrinsic === 'Ref') return withoutHash(String(argument));
  if (intrinsic === 'Fn::GetAtt') {
    const [logicalId, attribute] = argument as [string, string];
    return `${withoutHash(logicalId)}.${attribute}`;
  }
  if (intrinsic === 'Fn::Join') {
    const [separator, parts] = argument as [string, unknown[]];
    return parts.map(render).join(separator);
  }
  throw new Error(`Not rendered: ${JSON.stringify(value)}`);
};

const withoutHash = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, '');
